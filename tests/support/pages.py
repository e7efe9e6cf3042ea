"""Pages read from top to bottom by a newcomer, in an empty folder.

Blocks marked ``console`` are run, files are written under their titles, and examples in Python
are run in between. What needs a clone, a cluster or an installation is marked ``sh``. Below a
block of commands stands what the last one printed in one run. It is compared by its form, since
numbers are drawn: every number is like every other, and ``...`` stands for the rest.

``python tests/support/pages.py [PAGE ...]`` writes what is missing, and anew what has another
form.
"""

import doctest
import os
import re
import shlex
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from site_build.pages import books

from dpselect.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?")
MOST_LINES = 24
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ELSEWHERE = re.compile(r"^(?:pip |.*spark|python examples/)", re.MULTILINE)
COLUMNS = "90"
NOT_RUN = {"index.md"}
"""The start page shows one command, and what it prints, without the file."""


class Reader:
    """Does what a page says, in the current folder."""

    def __init__(self, text, *, anew=False):
        self.text = text
        self.anew = anew
        self.edits = []
        self.names = {"__name__": "page"}
        self.printed = None
        self.commands = []

    def read(self):
        """Go through all blocks; fail at the first that does not do what the page says."""
        end, shown = 0, True
        for found in BLOCK.finditer(self.text):
            kind, title, code = found.groups()
            follows = not self.text[end : found.start()].strip()
            if not shown and not (kind == "text" and follows):
                self.edits.append((end, end, f"\n\n{self.block()}"))
            end, shown = found.end(), True
            if title:
                Path(title).write_text(code, "utf-8")
            elif kind == "python":
                self.run_session(code)
            elif kind == "console":
                for line in code.replace("\\\n", "").splitlines():
                    self.run_command(line)
                shown = not self.anew or not self.printed.strip() or ">" in line
            elif kind == "text" and follows and self.commands:
                self.compare(code, found.span())
            elif kind == "sh":
                assert ELSEWHERE.search(code), f"the page could run this: {code}"
        if not shown:
            self.edits.append((end, end, f"\n\n{self.block()}"))

    def block(self):
        """Return what was printed last as a block; of long outputs the beginning."""
        lines = [line.rstrip() for line in self.printed.strip("\n").splitlines()]
        lines = [*lines[:MOST_LINES], "..."] if len(lines) > MOST_LINES + 1 else lines
        return "\n".join(["```text", *lines, "```"])

    def written(self):
        """Return the page with what is printed now."""
        text = self.text
        for start, end, new in reversed(self.edits):
            text = text[:start] + new + text[end:]
        return text

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

    def compare(self, shown, place):
        forms = (NUMBER.sub("0", one) for one in (shown, self.printed))
        same = doctest.OutputChecker().check_output(*forms, FLAGS)
        if self.anew and not same:
            self.edits.append((*place, self.block()))
            return
        assert same, f"{self.commands[-1]} printed\n{self.printed}"


def pages():
    """Return README and all written pages that show a command."""
    guide, _ = books()
    found = [
        path.relative_to(ROOT).as_posix()
        for path, name in guide.files().items()
        if path.suffix == ".md" and name not in NOT_RUN
    ]
    return [
        name
        for name in ["README.md", *found]
        if "```console\n" in (ROOT / name).read_text("utf-8")
    ]


def in_folder(name, folder):
    """Put beside a page what it takes as given: README is read in a clone."""
    if name == "README.md":
        (folder / "examples").symlink_to(ROOT / "examples")


if __name__ == "__main__":
    os.environ["COLUMNS"] = COLUMNS
    for page in sys.argv[1:] or pages():
        with tempfile.TemporaryDirectory() as made, chdir(made):
            in_folder(page, Path(made))
            reader = Reader((ROOT / page).read_text("utf-8"), anew=True)
            reader.read()
            (ROOT / page).write_text(reader.written(), "utf-8")
