"""Every page of commands works in an empty folder (``support.pages``)."""

import pytest

from support.pages import COLUMNS, ROOT, Reader, in_folder, pages

PAGES = pages()


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", COLUMNS)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_works_when_it_is_pasted_into_an_empty_folder(name, empty):
    in_folder(name, empty)

    reader = Reader((ROOT / name).read_text("utf-8"))
    reader.read()

    assert reader.commands


def test_the_tutorial_works_when_it_is_pasted_into_an_empty_folder(empty):
    reader = Reader((ROOT / "docs" / "tutorial.md").read_text("utf-8"))
    reader.read()

    assert len(reader.commands) == 8
    assert "clinic" in (empty / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    "planted",
    [
        "```console\n$ dpselect top nobody_wrote.csv --column a --k 1 --neighbours edge\n```\n",
        "```python\n>>> open('nobody_wrote.csv')\n```\n",
        "```console\n$ dpselect plan releases --neighbours edge\n```\n```text\nb\n```\n",
        "```sh\ndpselect budget a.budget\n```\n",
    ],
)
@pytest.mark.usefixtures("empty")
def test_a_page_that_reads_a_file_which_it_does_not_make_fails(planted):
    with pytest.raises(AssertionError):
        Reader(planted).read()
