"""Commands made of queries: options, help, errors, dry runs and releases of a toy query."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

import dpselect as dp
from dpselect.cli import app
from dpselect.cli.command import Option, QueryCommand
from dpselect.cli.commands import Command, installed
from dpselect.cli.help import flag
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan, Spend
from dpselect.query import Design, Query, query
from dpselect.requests.fields import documented
from dpselect.tables import numeric_column


@query
class Toy(Query[dp.Release[Any]]):
    """The first number of a column.

    Attributes:
        column: The column of numbers, not
            the one of ``names``. It is never shown whole.
        k: How many, with [brackets] of a ``Release``, at most ``limit``.
            ``k`` is public.
        limit: The limit.
        names: Several texts.
        fast: Whether it is fast.
        share: A share in (0, 1).
        least: The least number.
        inner: What only the library has.
        user: The column of the person.
        max_per_user: How many rows of a person count.
        epsilon: What it costs; > 0.
        neighbours: The relation.
        mechanism: How it is drawn.

    Examples:
        column: this is no attribute
    """

    column: str
    k: int | None = None
    limit: int = 3
    names: str | Sequence[str] = ()
    fast: bool = False
    share: float = 0.25
    least: float = 0.0
    inner: int = 7
    user: str | None = None
    max_per_user: int | None = None
    epsilon: float
    neighbours: NeighboursLike
    mechanism: str | None = None

    def design(self):
        if self.k is not None and self.k > self.limit:
            raise ParameterError("`k` must be at most `limit`, or `fast` must be given")
        return ToyDesign(
            plan=Plan(
                mechanism="toy",
                spends=(Spend("all", self.epsilon),),
                epsilon=self.epsilon,
                neighbours=self.neighbours,
                public=("the column",),
            ),
            column=self.column,
        )


@dataclass(frozen=True, kw_only=True)
class ToyDesign(Design[dp.Release[Any]]):
    column: str

    def check(self, data):  # noqa: ARG002 -- only noted
        READ.append("check")

    def prepare(self, data):
        READ.append("prepare")
        values = numeric_column(data, self.column).tolist()
        return lambda plan: dp.Release((int(values[0]),), plan)


READ = []


class ToyCommand(QueryCommand):
    """Release a toy.

    Args:
        names: Names, joined.
        shout: Shout.
    """

    name, query, left_out = "toy", "Toy", ("inner",)
    options = {
        "names": Option(
            read=lambda text, given: [f"{one} of {given.options['column']}" for one in text],
            kind=list[str],
        ),
        "share": Option(read=lambda text, _given: float(text.removesuffix("%")) / 100),
    }
    more = {"shout": bool}

    def kind(self):
        return Toy

    def facts(self, query, given):  # noqa: ARG002
        return {"limit": query.limit}

    def check(self, query, given):  # noqa: ARG002
        READ.append(f"before, shout={given.options['shout']}")

    def after(self, release, given):  # noqa: ARG002
        return {"twice": 2 * release.candidate}


@pytest.fixture
def toy(run, monkeypatch, tmp_path):
    """Run a toy command on a table of its own."""
    path = tmp_path / "toys.csv"
    path.write_text("age,name\n7,a\n9,b\n", encoding="utf-8")
    module = ModuleType("toys")
    module.register = ToyCommand().register
    monkeypatch.setitem(sys.modules, "toys", module)
    monkeypatch.setitem(installed(), "toy", Command("toys", "Release a toy."))
    READ.clear()
    yield lambda *options, **how: run("toy", path, *options, **how)
    app.made.cache_clear()


ASK = ("--column", "age", "--epsilon", 1, "--neighbours", "add-remove")


class TestDocumented:
    def test_the_first_sentence_of_every_attribute_is_plain_text(self):
        found = documented(Toy, flag)

        assert list(found) == list(Toy.__annotations__)
        assert found["column"] == "The column of numbers, not the one of --names."
        assert found["k"] == "How many, with [brackets] of a Release, at most --limit."
        assert found["epsilon"] == "What it costs; > 0."


class TestHelp:
    def test_an_option_has_name_type_default_and_words_of_its_field(self, toy):
        shown = toy("--help", columns=200).out
        rows = [line.replace("│ *", "│").split() for line in shown.splitlines()]
        lines = {row[1]: " ".join(row[2:-1]) for row in rows if row[1:] and row[1][:2] == "--"}

        assert lines["--limit"] == "<int> The limit. [default: 3]"
        assert lines["--k"].startswith("<int> How many, with [brackets] of a Release, at most")
        assert lines["--fast"] == "Whether it is fast."
        assert lines["--names"] == "<list[str]> Names, joined."
        assert lines["--share"] == "<str> A share in (0, 1). [default: 0.25]"
        assert lines["--least"] == "<float> The least number. [default: 0.0]"
        assert lines["--epsilon"].startswith("<float> Privacy loss of the whole answer")
        assert lines["--mechanism"].startswith("<str> How it is drawn. One of exponential, per")
        assert not {"--inner", "--plot"} & set(lines)
        shared = {"--where", "--engine", "--ledger", "--source-version", "--again", "--dry-run"}
        assert {*shared, "--json", "--shout"} < set(lines)

    def test_options_stand_in_panels(self, toy):
        shown = toy("--help", columns=200).out
        panels = re.findall(r"╭─ (\w+) |^│ [* ]*(--\S+)", shown, re.MULTILINE)
        panel_of, panel = {}, ""
        for title, option in panels:
            panel = title or panel
            panel_of[option] = panel

        needed = {"--column", "--epsilon", "--neighbours"}
        assert {one for one in panel_of if panel_of[one] == "Needed"} >= needed
        assert panel_of["--where"] == "Data"
        assert {panel_of[one] for one in ("--k", "--limit", "--names")} == {"Question"}
        assert panel_of["--user"] == "Privacy"
        assert panel_of["--mechanism"] == "Expert"
        assert {panel_of[one] for one in ("--ledger", "--json")} == {"Output"}


class TestRun:
    def test_a_release_is_printed_with_what_is_beside_it(self, toy):
        ran = toy(*ASK)

        assert ran.code == 0, ran.error
        assert re.search(r"^answer +7 *$", ran.out, re.MULTILINE)
        assert re.search(r"twice +14", ran.out)
        assert "privacy epsilon 1" in " ".join(ran.out.split())
        assert READ == ["before, shout=False", "prepare"]

    def test_a_dry_run_reads_no_row(self, toy):
        ran = toy(*ASK, "--dry-run", "--json", "--shout")

        assert READ == ["before, shout=True", "check"]
        assert ran.json["dry_run"]
        assert (ran.json["query"], ran.json["limit"]) == ("Toy", 3)
        assert ran.json["arguments"] == {"column": "age"}
        assert re.search("would spend +epsilon 1", toy(*ASK, "--dry-run").out)

    def test_options_are_read_by_their_type_or_as_is_stated(self, toy):
        ran = toy(*ASK, "--dry-run", "--json", "--k", 2, "--names", "a", "--names", "b",
                  "--share", "50%", "--fast")  # fmt: skip

        assert ran.json["arguments"] == {
            "column": "age",
            "k": 2,
            "names": ["a of age", "b of age"],
            "fast": True,
            "share": 0.5,
        }

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ((), "give --column"),
            (ASK[:2], "give --epsilon and --neighbours"),
            ((*ASK, "--k", 4), "--k must be at most --limit, or --fast must be given"),
            ((*ASK, "--k", "x"), "--k must be an integer"),
            ((*ASK, "--note", "x"), "--note goes with --ledger"),
        ],
    )
    def test_what_is_wrong_is_one_line_in_words_of_the_command_line(
        self, toy, options, message
    ):
        ran = toy(*options)

        assert (ran.code, ran.out) == (2, "")
        assert message in ran.error
        assert [one for one in ran.error.splitlines()[1:] if one[:2] != "  "] == []
        assert "prepare" not in READ
