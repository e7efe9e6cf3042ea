"""The program ``dpselect`` run inside of a test."""

import json
from dataclasses import dataclass

import pytest

from dpselect.cli import main


@dataclass
class Ran:
    """What one run of the program gave."""

    code: int
    out: str
    error: str

    @property
    def json(self):
        return json.loads(self.out)


LISTS = (
    *("--where", "--column-type", "--objective", "--share", "--out", "--query", "--data"),
    *("--metric", "--p", "--positive", "--names", "--rect"),
)
"""Options that may be given several times."""


def changed(arguments):
    """Return arguments where an option with a value replaces that which stands before it."""
    last = {one: at for at, one in enumerate(arguments)}
    left_out = {
        at + more
        for at, one in enumerate(arguments)
        if one.startswith("--") and last[one] != at and one not in LISTS
        for more in (0, 1)
        if not (more and arguments[at + 1].startswith("--"))
    }
    return [one for at, one in enumerate(arguments) if at not in left_out]


@pytest.fixture
def run(capsys, monkeypatch):
    """Run ``dpselect`` with arguments and return what it gave."""

    def call(*arguments, columns=120):
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as stop:
            main(changed([str(argument) for argument in arguments]))
        caught = capsys.readouterr()
        return Ran(stop.value.code, caught.out, caught.err)

    return call


@pytest.fixture
def stays(tmp_path):
    """A table of 40 stays, one of them missing."""
    path = tmp_path / "stays.csv"
    rows = "\n".join(f"ward {i},{i % 20 if i != 7 else ''},x" for i in range(40))
    path.write_text(f"name,days,kind\n{rows}\n", encoding="utf-8")
    return path
