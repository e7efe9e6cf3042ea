"""The page in a real Chromium, by mouse and keyboard, beside Python's answers."""

import json
import os
import shlex
from math import ceil, floor, log10
from pathlib import Path

import pytest

import dpselect_planner as planner
from dpselect.cli import main
from dpselect.neighbours import Neighbours

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("chromium")]
ADD_REMOVE = Neighbours.ADD_REMOVE


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


def opened(browser, address):
    """Open an address anew, and wait for its answers."""
    browser.goto("about:blank")
    browser.goto(address)
    settle(browser)


def settle(browser):
    browser.wait_for_selector("#results:not([aria-busy])", state="attached")


def tab_to(browser, selector):
    for _ in range(80):
        if browser.evaluate("one => document.activeElement.matches(one)", selector):
            return
        browser.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {selector}")


def by_mouse(browser, task, fields):
    browser.click(f"label[for=task-{task}]")
    for name, words in fields.items():
        browser.fill(f"#{name}", words)


def by_keyboard(browser, task, fields):
    tab_to(browser, "[name=task]")
    for _ in range(10):
        if browser.evaluate("document.activeElement.value") == task:
            break
        browser.keyboard.press("ArrowDown")
    for name, words in fields.items():
        tab_to(browser, f"#{name}")
        browser.keyboard.press("Control+A")
        browser.keyboard.insert_text(words)


@pytest.mark.parametrize("entered", [by_mouse, by_keyboard])
def test_fields_that_are_entered_are_answered(browser, address, entered):
    opened(browser, address)
    fields = {"field-options": "20", "field-gap": "30", "probability": "0.95"}
    entered(browser, "most-common", fields)
    settle(browser)

    shown = browser.text_content("#epsilon-needed strong")
    assert float(shown.replace(",", "")) == pytest.approx(diagnoses())


def test_the_address_keeps_what_was_entered(browser, address):
    opened(browser, address)
    by_mouse(browser, "percentile", {"field-p": "50", "epsilon": "0.7"})
    browser.click("#data-paste")
    browser.fill("#pasted", "1, 10\n2, 30\n7, 5")
    settle(browser)
    answer = browser.text_content("#answer")
    opened(browser, browser.url)

    assert browser.text_content("#answer") == answer
    assert browser.input_value("#field-p") == "50"


@pytest.mark.parametrize("task", ["most-common", "percentile", "scores", "keys", "subset"])
def test_what_is_copied_runs(browser, address, task, capsys):
    """The Python lines are Python, and the command line gives the page's answer."""
    opened(browser, f"{address}#task={task}&epsilon=0.7")
    settle(browser)
    python, lines = (
        browser.text_content("#copy-0"),
        browser.text_content("#copy-1").splitlines(),
    )
    program, *arguments = shlex.split(lines[0])
    with pytest.raises(SystemExit):
        main([*arguments, "--json"])
    told = json.loads(capsys.readouterr().out)
    best = next(row for row in told["mechanisms"] if row["mechanism"] == told["best"])
    assert task not in {"most-common", "percentile"} or "mechanism" not in python + lines[-1]
    browser.click(f"[name=mechanism][value='{told['best']}']")
    settle(browser)

    assert program == "dpselect"
    shown = browser.text_content("#epsilon-needed strong")
    needed = best["epsilon_needed"]
    assert (
        shown == "more than 100"
        if needed is None
        else float(shown) == pytest.approx(upwards(needed))
    )


def test_the_page_makes_no_request_and_has_no_error(browser, address):
    errors, requests = [], []
    for kind in ("console", "pageerror"):
        browser.on(kind, lambda one: errors.append(str(one)))
    browser.on("request", lambda one: requests.append(one.url))
    for task in ("most-common", "percentile", "scores", "keys", "subset", "response"):
        opened(browser, f"{address}#task={task}")
        shown = browser.text_content("main")
        assert "undefined" not in shown
        assert "NaN" not in shown

    assert errors == []
    assert {one.partition("#")[0] for one in requests} == {address}


def test_what_is_wrong_is_said_and_announced(browser, address):
    opened(browser, address)
    browser.fill("#field-options", "many")

    assert browser.text_content("#problem") == "Options must be a number, not “many”"
    assert browser.get_attribute("#problem", "role") == "alert"


def test_a_screen_reader_finds_a_name_for_everything(browser, address):
    """Every control and picture has an accessible name, and the banner is in the tree."""
    opened(browser, f"{address}#task=scores&data=paste")
    session = browser.context.new_cdp_session(browser)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    named = {"textbox", "radio", "slider", "combobox", "button", "image", "img"}
    found = [node for node in nodes if node.get("role", {}).get("value") in named]

    assert len(found) > 20
    assert all(node["name"]["value"] for node in found if not node["ignored"])
    assert any("Paste nothing private" in str(node.get("name")) for node in nodes)


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (400, False), (1400, True)])
def test_the_page_fits_its_window(browser, address, width, dark):
    """With DPSELECT_SCREENSHOTS the pictures are kept there, to be looked at in review."""
    browser.set_viewport_size({"width": width, "height": 900})
    browser.emulate_media(color_scheme="dark" if dark else "light")
    opened(browser, f"{address}#task=percentile&epsilon=0.3")

    assert browser.evaluate("document.documentElement.scrollWidth") == width
    folder = os.environ.get("DPSELECT_SCREENSHOTS")
    if folder:
        browser.screenshot(path=Path(folder) / f"planner-{width}{'-dark' * dark}.png")
