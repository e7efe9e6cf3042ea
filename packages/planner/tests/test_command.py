"""``dpselect plan`` and ``dpselect planner``."""

import webbrowser
from types import SimpleNamespace

import dpselect_planner as planner
from dpselect.neighbours import Neighbours

RELATION = ("--neighbours", "add-remove")
ASKED = ("most-common", "--options", 20, "--gap", 30, *RELATION)


def test_a_plan_is_solved_backwards(run):
    told = run("plan", *ASKED, "--epsilon", 0.1, "--json").json
    counts = planner.leading_counts(1, options=20, people=1000, gap=30)
    question = planner.MostCommon(counts=counts, neighbours=Neighbours.ADD_REMOVE)
    asked = {"probability": 0.95, "mechanism": told["best"]}
    row = next(row for row in told["mechanisms"] if row["mechanism"] == told["best"])

    assert row["epsilon_needed"] == planner.epsilon_for(question, **asked)
    assert row["people_needed"] == planner.people_for(question, epsilon=0.1, **asked)


def test_the_page_is_saved_or_opened(run, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.get", lambda: SimpleNamespace(open=opened.append))
    path = tmp_path / "planner.html"
    saved = run("planner", "--save", path)

    assert saved.code == 0
    assert path.read_text(encoding="utf-8") == planner.page()
    assert not opened
    assert run("planner").code == 0
    [address] = opened
    assert address.startswith("file://")
    assert "cannot write" in run("planner", "--save", tmp_path / "none" / "a.html").error


def test_without_a_browser_the_page_is_named(run, monkeypatch):
    def none():
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr("webbrowser.get", none)
    ran = run("planner")

    assert ran.code == 0
    assert ran.out.startswith("planner: ")
    assert ran.error == ""
