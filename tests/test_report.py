"""The technical report: its theorems, and everything that leads to one or from it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {
    page.name: page.read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs" / "report").glob("*.md"))
}
TABLE = PAGES["evidence.md"].partition("## Claim, proof, test, code")[2].partition("\n## ")[0]
STATED = {
    int(number): name
    for name, page in PAGES.items()
    for number in re.findall(r"^<a .*\*\*Theorem (\d+)", page, re.MULTILINE)
}
"""The page of each theorem. The number of a theorem that left is not given again."""
ROWS = [line.split("|")[1:-1] for line in TABLE.splitlines() if re.match(r"\| \d", line)]
NAMED = re.compile(r"Theorems? (\d+)((?:(?:, | and | to |, and )\d+)*)(?!\.?\d)")


def test_every_theorem_is_stated_once_and_has_an_anchor():
    anchors = re.findall(r'<a id="theorem-(\d+)"></a>', "".join(PAGES.values()))

    assert sorted(map(int, anchors)) == sorted(STATED)


def test_every_theorem_has_a_row():
    assert [int(row[0].split()[0]) for row in ROWS] == sorted(STATED)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_a_row_leads_to_files(row):
    _, proof, tests, sources = row
    for cell, folders in (
        (proof, (".", "src/dpselect")),
        (tests, (".", "tests")),
        (sources, (".", "src/dpselect")),
    ):
        for name in re.findall(r"`([^`]+)`", cell):
            assert any((ROOT / folder / name).is_file() for folder in folders), name
    assert tests.strip()


def test_links_lead_to_the_theorem_that_they_name():
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        for label, page, anchor in re.findall(
            r"\[Theorem (\d+)\]\((\S*?\.md)?#([a-z0-9-]+)\)", text
        ):
            assert anchor == f"theorem-{label}", path.name
            assert STATED[int(label)] == Path(page or path).name, path.name


def test_nobody_names_a_theorem_that_there_is_not():
    folders = ("src", "packages", "tests", "studies")
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for found in re.finditer(
            r"Theorems? ([\d, toand]+?)\s+(?:of|in)\s+`{0,2}docs/report", text
        ):
            assert {int(one) for one in re.findall(r"\d+", found[1])} <= set(STATED), path.name
    for page in PAGES.values():
        for found in NAMED.finditer(page.partition("## Local dampening")[0]):
            assert {int(one) for one in re.findall(r"\d+", found[0])} <= set(STATED), found[0]
