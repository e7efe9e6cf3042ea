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


CHANGED = (
    *("--epsilon", "--neighbours", "--mechanism", "--engine", "--ledger", "--separator"),
    *("--user", "--max-per-user", "--k", "--lower", "--upper", "--step", "--analyst"),
    *("--delta", "--source-version", "--nodes"),
)
"""Options with a value that a test may give again, to change a line."""


def changed(arguments):
    """Return arguments without options of ``CHANGED`` that are given again."""
    last = {one: at for at, one in enumerate(arguments)}
    left_out = {
        at + more
        for at, one in enumerate(arguments)
        if one in CHANGED and last[one] != at
        for more in (0, 1)
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
