"""Every page of commands works in an empty folder, read from top to bottom by a newcomer.

Blocks marked ``console`` are run, files are written under their titles, and examples in Python
are run in between. What needs a clone, a cluster or an installation is marked ``sh``.
"""

import doctest
import re
import shlex
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from dpselect.cli import main

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ELSEWHERE = re.compile(r"^(?:pip |.*spark|python examples/)", re.MULTILINE)
NOT_RUN = {"index.md"}
"""The start page shows one command, and what it prints, without the file."""


class Reader:
    """Does what a page says, in the current folder."""

    def __init__(self, text):
        self.text = text
        self.names = {"__name__": "page"}
        self.printed = None
        self.commands = []

    def read(self):
        """Go through all blocks; fail at the first that does not do what the page says."""
        end = 0
        for found in BLOCK.finditer(self.text):
            kind, title, code = found.groups()
            follows = not self.text[end : found.start()].strip()
            end = found.end()
            if title:
                Path(title).write_text(code, "utf-8")
            elif kind == "python":
                self.run_session(code)
            elif kind == "console":
                for line in code.replace("\\\n", "").splitlines():
                    self.run_command(line)
            elif kind == "text" and follows and self.commands:
                self.compare(code)
            elif kind == "sh":
                assert ELSEWHERE.search(code), f"the page could run this: {code}"

    def run_session(self, code):
        assert code.startswith(">>> "), f"neither a session nor a file with a title: {code}"
        test = doctest.DocTestParser().get_doctest(code, self.names, "page", None, 0)
        said = StringIO()
        failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(
            test, out=said.write, clear_globs=False
        )
        assert failed == 0, said.getvalue()
        self.names = test.globs

    def run_command(self, line):
        assert line.startswith("$ dpselect "), line
        self.commands.append(line)
        words = shlex.split(line)[2:]
        [target] = words[words.index(">") + 1 :] if ">" in words else [None]
        said = StringIO()
        with redirect_stdout(said), pytest.raises(SystemExit) as stop:
            main(words[: words.index(">")] if target else words)
        # 1 is the answer of an audit that finds something.
        assert stop.value.code == 0 or (words[0], stop.value.code) == ("audit", 1), line
        self.printed = said.getvalue()
        if target:
            Path(target).write_text(self.printed, "utf-8")

    def compare(self, shown):
        same = doctest.OutputChecker().check_output(shown, self.printed, FLAGS)
        assert same, f"{self.commands[-1]} printed\n{self.printed}"


def pages():
    """Return README and all written pages that show a command."""
    nav = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))
    named = re.findall(r"'([a-z-]+\.md)'", repr(nav["project"]["nav"]))
    found = ["README.md", *(f"docs/{name}" for name in named if name not in NOT_RUN)]
    return [name for name in found if "```console\n" in (ROOT / name).read_text("utf-8")]


PAGES = pages()


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_works_when_it_is_pasted_into_an_empty_folder(name, empty):
    assert list(empty.iterdir()) == []

    reader = Reader((ROOT / name).read_text("utf-8"))
    reader.read()

    assert reader.commands


def test_the_tutorial_works_when_it_is_pasted_into_an_empty_folder(empty):
    reader = Reader((ROOT / "docs" / "tutorial.md").read_text("utf-8"))
    reader.read()

    assert len(reader.commands) == 6
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
def test_a_page_that_reads_a_file_which_it_does_not_make_fails(planted, empty):
    assert list(empty.iterdir()) == []

    with pytest.raises(AssertionError):
        Reader(planted).read()
