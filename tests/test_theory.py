"""The theory page: its numbers, its anchors, and everything that leads to it or from it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("| claim | proof | test | code |") : PAGE.index("## What is ours")]
STATED = [int(number) for number in re.findall(r"^<a .*\*\*Theorem (\d+)", PAGE, re.MULTILINE)]
ROWS = [line.split(" | ") for line in TABLE.splitlines()[2:] if line]
NAMED = re.compile(r"Theorems? (\d+)((?:(?:, | and | to |, and )\d+)*)(?!\.?\d)")


def numbers(text):
    """Every number of a theorem that a text names, but those of other works."""
    for found in NAMED.finditer(text):
        yield from map(int, re.findall(r"\d+", found[0]))


def code():
    for folder in ("src", "packages", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "docs/theory.md" in text and path != Path(__file__):
                yield path, text


def test_theorems_are_numbered_in_order_and_have_an_anchor_each():
    """The number of a theorem that left is not given again."""
    anchors = [int(number) for number in re.findall(r'<a id="theorem-(\d+)"></a>', PAGE)]

    assert sorted(set(STATED)) == STATED
    assert anchors == STATED


def test_every_theorem_has_a_row():
    assert [int(re.match(r"\| (\d+) ", row[0])[1]) for row in ROWS] == STATED


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("| "))
def test_a_row_leads_to_files(row):
    _, proof, tests, sources = (cell.strip(" |") for cell in row)
    for name in re.findall(r"`([^`]+)`", proof):
        assert any((ROOT / folder / name).is_file() for folder in (".", "src/dpselect"))
    for name in re.findall(r"`([^`]+)`", tests):
        assert (ROOT / name).is_file() or (ROOT / "tests" / name).is_file()
    for name in re.findall(r"`([^`]+)`", sources):
        assert (ROOT / name).is_file() or (ROOT / "src" / "dpselect" / name).is_file()
    assert tests


def test_links_lead_to_the_theorem_that_they_name():
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for number, anchor in re.findall(r"\[Theorem (\d+)\]\(theory\.md#([a-z0-9-]+)\)", text):
            assert anchor == f"theorem-{number}", path.name
            assert int(number) in STATED, path.name
        for anchor in re.findall(r"\(theory\.md#theorem-(\d+)\)", text):
            assert int(anchor) in STATED, path.name


def test_no_code_names_a_theorem_that_there_is_not():
    for path, text in code():
        for found in re.finditer(
            r"Theorems? ([\d, toand]+?)\s+(?:of|in)\s+`{0,2}docs/theory", text
        ):
            assert {int(one) for one in re.findall(r"\d+", found[1])} <= set(STATED), path.name


def test_the_page_names_no_theorem_that_there_is_not():
    assert set(numbers(PAGE)) <= set(STATED)


def test_anchors_of_the_page_are_headings_or_theorems():
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in PAGE.splitlines()
        if line.startswith("#")
    }
    for anchor in re.findall(r"\]\(#([a-z0-9-]+)\)", PAGE):
        assert anchor in headings or anchor.removeprefix("theorem-") in map(str, STATED)
