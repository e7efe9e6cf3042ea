"""``dpselect plan`` and ``dpselect planner``."""

import webbrowser
from types import SimpleNamespace

import pytest

import dpselect_planner as planner
from dpselect.neighbours import Neighbours

RELATION = ("--neighbours", "add-remove")
TASKS = [
    ("most-common", "--options", 20, "--gap", 30, *RELATION),
    ("percentile", "--p", 90, "--upper", 60, "--step", 1, "--within", 1, *RELATION),
    ("scores", "--options", 100, *RELATION),
    ("keys", *RELATION),
    ("subset", "--n", 60, "--delta", 0.1),
    ("response",),
]


@pytest.mark.parametrize("arguments", TASKS, ids=lambda one: one[0])
def test_a_plan_says_what_python_says(run, arguments):
    """The relation, every mechanism, the risk; in words and as JSON."""
    ran = run("plan", *arguments, "--epsilon", 1)
    told = run("plan", *arguments, "--epsilon", 1, "--json").json

    assert ran.code == 0, ran.error
    assert told["neighbours"] in ran.out
    for row in told["mechanisms"]:
        assert row["mechanism"] in ran.out
    assert "at most 0.7311" in ran.out


def test_a_plan_is_solved_backwards(run):
    told = run("plan", *TASKS[0], "--epsilon", 0.1, "--json").json
    counts = planner.leading_counts(1, options=20, people=1000, gap=30)
    question = planner.MostCommon(counts=counts, neighbours=Neighbours.ADD_REMOVE)
    asked = {"probability": 0.95, "mechanism": told["best"]}
    row = next(row for row in told["mechanisms"] if row["mechanism"] == told["best"])

    assert row["epsilon_needed"] == planner.epsilon_for(question, **asked)
    assert row["people_needed"] == planner.people_for(question, epsilon=0.1, **asked)


def test_several_releases_add_up(run):
    ran = run(
        "plan", "releases", "--releases", 400, "--epsilon", 0.01, "--total-delta", 1e-6,
        *RELATION,
    )  # fmt: skip
    risk = planner.risk_of(releases=400, epsilon=0.01, delta=1e-6)

    assert f"epsilon {risk.epsilon:.4g} (400 releases: 4 added up" in ran.out


def test_a_plan_is_made_for_a_file(run, stays, tmp_path):
    public = ("--data-is-public", *RELATION, "--json")
    asked = ("--task", "percentile", "--column", "days", "--upper", 20)
    values = run("plan", stays, *asked, "--p", 50, *public).json
    kinds = run("plan", stays, "--task", "most-common", "--column", "name", *public).json
    counted = tmp_path / "counts.csv"
    # The stays: two people for each day, but for the missing one of day 7.
    rows = "\n".join(f"{day},{2 - (day == 7)}" for day in range(20))
    counted.write_text(f"days,people\n{rows}\n", encoding="utf-8")
    again = run("plan", counted, *asked, "--p", 50, "--counts-column", "people", *public).json

    assert values["mechanisms"] == again["mechanisms"]
    assert kinds["mechanisms"][0]["error"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("most-common",), "--neighbours says what is protected"),
        (("a.csv", "--task", "scores"), "--data-is-public"),
        (("guess", "--data-is-public"), "give one of most-common"),
        (("keys", *RELATION, "--mechanism", "none"), "--mechanism must be one of optimal"),
        (("most-common", *RELATION, "--probability", 2), "probability must be"),
        (("scores", *RELATION, "--monotone", "perhaps"), "--monotone must be 'yes' or 'no'"),
        (("a.csv", "--task", "scores", "--data-is-public", *RELATION), "--column names"),
    ],
)
def test_what_is_wrong_is_one_line(run, arguments, message):
    ran = run("plan", *arguments)

    assert ran.code == 2
    assert message in ran.error
    assert ran.error.count("\n") == 1


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
