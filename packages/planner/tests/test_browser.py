"""The page in a real Chromium, by mouse and keyboard, beside Python's answers."""

import ast
import json
import os
import shlex
from math import ceil, floor, log10
from pathlib import Path

import pytest

import dpselect_planner as planner
from dpselect.cli import main
from dpselect.neighbours import Neighbours
from support.chromium import Chromium, program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(program() is None, reason="there is no Chromium on this machine"),
    pytest.mark.xdist_group("chromium"),
]
ADD_REMOVE = Neighbours.ADD_REMOVE


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    started = Chromium(program(), tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "planner.html"
    path.write_text(planner.page(), encoding="utf-8")
    return path.as_uri()


def upwards(epsilon):
    """Three digits, enough."""
    unit = 10.0 ** (floor(log10(epsilon)) - 2)
    return ceil(epsilon / unit - 1e-9) * unit


def diagnoses():
    """Which epsilon names the most common of 20 diagnoses with 95 %, ahead by 30 people?"""
    counts = planner.leading_counts(1, options=20, people=1000, gap=30)
    question = planner.MostCommon(counts=counts, neighbours=ADD_REMOVE)
    best = planner.best_mechanism(question, epsilon=0.2)
    return upwards(planner.epsilon_for(question, probability=0.95, mechanism=best))


def by_mouse(browser, task, fields):
    browser.click(f"label[for=task-{task}]")
    for name, words in fields.items():
        browser.click(f"#{name}")
        browser.type(words)


def by_keyboard(browser, task, fields):
    browser.tab_to("[name=task]")
    for _ in range(10):
        if browser.evaluate(f"document.activeElement.value === {json.dumps(task)}"):
            break
        browser.press("ArrowDown")
    for name, words in fields.items():
        browser.tab_to(f"#{name}")
        browser.type(words)


@pytest.mark.parametrize("entered", [by_mouse, by_keyboard])
def test_fields_that_are_entered_are_answered(browser, address, entered):
    browser.open(address)
    fields = {"field-options": "20", "field-gap": "30", "probability": "0.95"}
    entered(browser, "most-common", fields)
    browser.settle()

    shown = browser.text("#epsilon-needed strong")
    assert float(shown.replace(",", "")) == pytest.approx(diagnoses())


def test_the_address_keeps_what_was_entered(browser, address):
    browser.open(address)
    by_mouse(browser, "percentile", {"field-p": "50", "epsilon": "0.7"})
    browser.click("#data-paste")
    browser.click("#pasted")
    browser.type("1, 10\n2, 30\n7, 5")
    browser.settle()
    answer = browser.text("#answer")
    browser.open(browser.evaluate("location.href"))

    assert browser.text("#answer") == answer
    assert browser.evaluate("document.getElementById('field-p').value") == "50"


@pytest.mark.parametrize("task", ["most-common", "percentile", "scores", "keys", "subset"])
def test_what_is_copied_runs(browser, address, task, capsys):
    """The Python lines are Python, and the command line gives the page's answer."""
    browser.open(f"{address}#task={task}&epsilon=0.7")
    browser.settle()
    python, lines = browser.text("#copy-0"), browser.text("#copy-1").splitlines()
    program, *arguments = shlex.split(lines[0])
    with pytest.raises(SystemExit):
        main([*arguments, "--json"])
    told = json.loads(capsys.readouterr().out)
    best = next(row for row in told["mechanisms"] if row["mechanism"] == told["best"])
    assert task not in {"most-common", "percentile"} or "mechanism" not in python + lines[-1]
    browser.click(f"[name=mechanism][value='{told['best']}']")
    browser.settle()

    assert ast.parse(python)
    assert program == "dpselect"
    shown = browser.text("#epsilon-needed strong")
    needed = best["epsilon_needed"]
    assert (
        shown == "more than 100"
        if needed is None
        else float(shown) == pytest.approx(upwards(needed))
    )


def test_the_page_makes_no_request_and_has_no_error(browser, address):
    for task in ("most-common", "percentile", "scores", "keys", "subset", "response"):
        browser.open(f"{address}#task={task}")
        for event in browser.events:
            assert event["method"] not in {"Log.entryAdded", "Runtime.exceptionThrown"}, event
            if event["method"] == "Network.requestWillBeSent":
                assert event["params"]["request"]["url"] == address
        assert "undefined" not in browser.text("main")
        assert "NaN" not in browser.text("main")


def test_what_is_wrong_is_said_and_announced(browser, address):
    browser.open(address)
    browser.click("#field-options")
    browser.type("many")

    assert browser.text("#problem") == "Options must be a number, not “many”"
    assert (
        browser.evaluate("document.getElementById('problem').getAttribute('role')") == "alert"
    )


def test_a_screen_reader_finds_a_name_for_everything(browser, address):
    """Every control and picture has an accessible name, and the banner is in the tree."""
    browser.open(f"{address}#task=scores&data=paste")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = {"textbox", "radio", "slider", "combobox", "button", "image", "img"}
    found = [node for node in nodes if node.get("role", {}).get("value") in named]

    assert len(found) > 20
    assert all(node["name"]["value"] for node in found if not node["ignored"])
    assert any("Paste nothing private" in str(node.get("name")) for node in nodes)


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (400, False), (1400, True)])
def test_the_page_fits_its_window(browser, address, width, dark):
    """With DPSELECT_SCREENSHOTS the pictures are kept there, to be looked at in review."""
    browser.resize(width, 900, dark=dark)
    browser.open(f"{address}#task=percentile&epsilon=0.3")

    assert browser.evaluate("document.documentElement.scrollWidth") == width
    folder = os.environ.get("DPSELECT_SCREENSHOTS")
    if folder:
        browser.screenshot(Path(folder) / f"planner-{width}{'-dark' * dark}.png")
