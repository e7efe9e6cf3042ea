"""Odd private input at every public entry: only errors of ours, and nothing private in any.

A marker is in the data alone. It must be in no message, in nothing that an error is chained
to, in no log, warning or output and in no file. ``HYPOTHESIS_PROFILE=exploring`` tries
more of each, and ``benchmarks/odd_input.py`` as many as there is time for.
"""

import logging
import tempfile
import warnings
from contextlib import chdir
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import dpselect as dp
from dpselect.cli import main
from dpselect.errors import DataError
from support import odd_input
from support.commands import EXAMPLES, table, written
from support.odd_arguments import CALLS, ODD
from support.odd_entries import CONTAINERS, ENTRIES, READINGS, data_for, outcome, seeded
from support.odd_input import MARKER, TEXT, csv_files

FEW = settings.default.derandomize
SEEDS = 2 if FEW else 500
FIRST = {entries[0] for entries in READINGS.values()}
"""One entry of each way in which data are read; the others are read by the same code."""
arguments = settings(
    max_examples=1 if FEW else 1_000, suppress_health_check=list(HealthCheck), deadline=None
)
program = settings(arguments, max_examples=1 if FEW else 500)


@pytest.mark.parametrize("name", ENTRIES)
def test_only_errors_of_ours_and_nothing_private(name, tmp_path):
    """Nor does a row decide that its table is refused."""
    entry = ENTRIES[name]
    for container in CONTAINERS[entry.data]:
        for seed in range(1 if FEW and name not in FIRST else SEEDS):
            rng = seeded(name, container, seed)
            given_data = data_for(entry, container, rng, tmp_path)
            if given_data is None:
                continue
            with odd_input.observed() as seen:
                entry.call(given_data)

            seen.assert_nothing_private()
            assert outcome(name, given_data, seen.error) != "decided", (container, seed)


class Once:
    """Values that can be read once, as those of a generator, and say so."""

    def __init__(self, values):
        self.values, self.ended = iter(values), False

    def __iter__(self):
        return self

    def __next__(self):
        assert not self.ended, "read again"
        try:
            return next(self.values)
        except StopIteration:
            self.ended = True
            raise


@pytest.mark.parametrize("name", ENTRIES)
def test_a_generator_is_read_once(name):
    entry = ENTRIES[name]
    # A study reads in functions of the caller's own.
    if entry.data in {"values", "rows"} and name not in {"BestOf", "PrivateStudy"}:
        values = [1, 0, 2, 3]
        given_data = values if entry.data == "values" else [*pairwise(values)]
        # A stream of pairs is refused where pairs must be in memory.
        with odd_input.observed():
            entry.call(Once(given_data))


def test_several_queries_read_a_generator_once():
    query = dp.TopKeys(k=1, candidates=["a", "b"], epsilon=50.0, neighbours="add-remove")
    values = ["a"] * 9

    first, second = dp.run([query, query], Once(values))
    assert (first.answer, second.answer) == (("a",), ("a",))


@pytest.mark.parametrize("name", CALLS)
@arguments
@given(data=st.data())
def test_odd_arguments_end_in_errors_of_ours_before_anything_is_spent(name, data):
    call = CALLS[name]
    names = data.draw(st.lists(st.sampled_from(sorted(call.arguments)), min_size=1, max_size=2))
    changed = {one: data.draw(st.sampled_from(ODD)) for one in names}
    budget = call.budget()
    with odd_input.observed() as seen:
        call.make(changed, budget)

    seen.assert_nothing_private()
    assert seen.error is None or budget.entries == ()


HERE = Path("rows.csv")
COMMANDS = {
    name: (table().columns, [*map(str, one.line(HERE))]) for name, one in EXAMPLES.items()
}
for name, more in (
    ("percentile", "--engine polars"),
    ("nodes", "--engine polars"),
    ("top", "--user name --max-per-user 2"),
):
    columns, line = COMMANDS[name]
    COMMANDS[f"{name} {more}"] = columns, [*line, *more.split()]
POOLS = {
    "pool worksheet rows.csv --design array --rows 2 --columns 4 --out w": ("sample", "g", "y"),
    "pool decode rows.csv --worksheet pools.csv --out report.csv": ("pool", "result", "y"),
}
COMMANDS |= {line[:14]: (columns, line.split()) for line, columns in POOLS.items()}
every_command = pytest.mark.parametrize(("columns", "line"), COMMANDS.values(), ids=COMMANDS)
ODD_TEXTS = [
    *("", " ", "-1", "0", "0.5", "nan", "inf", "1e400", "1e-320", "9" * 30, "x", "f", "/", "."),
    *("1,2", "2,1", "0:9", "0:9:0", "a:b:c", "50,25", "[]", "{", "--json", "\udc80"),
    "\N{SNOWMAN}",
]


def ended(line, text):
    """Run a command on a CSV file in a folder of its own; return what it gave away."""
    with tempfile.TemporaryDirectory() as name, chdir(name):
        written(Path()).write_text(text, encoding="utf-8")
        Path("pools.csv").write_text("pool,sample\nf,S1\nf,S2\ng,S1\n", encoding="utf-8")
        given = {*Path().iterdir()}
        with odd_input.observed() as seen:
            main(line)
        made = [p for p in Path().rglob("*") if p.is_file() and p not in given]
        seen.texts += [path.read_text(encoding="utf-8", errors="replace") for path in made]
    return seen


@every_command
@program
@given(data=st.data())
def test_commands_end_in_one_line_and_give_nothing_private_away(columns, line, data):
    seen = ended(line, data.draw(csv_files(*columns)))

    assert odd_input.ends_cleanly(seen.error), seen.texts
    # What is released may be a value of a public candidate, never one of the file.
    if seen.error.code:
        seen.assert_nothing_private()


@every_command
@program
@given(data=st.data())
def test_odd_options_end_in_one_line_and_give_nothing_private_away(columns, line, data):
    given = [place for place, word in enumerate(line) if line[place - 1].startswith("--")]
    changed = data.draw(st.sampled_from(given)), data.draw(st.sampled_from(ODD_TEXTS))
    line = [changed[1] if place == changed[0] else word for place, word in enumerate(line)]
    rows = [",".join([value] * len(columns)) for value in ("0", "a", str(MARKER), TEXT)]
    seen = ended(line, "\n".join([",".join(columns), *rows, ""]))

    assert odd_input.ends_cleanly(seen.error), seen.texts
    if seen.error.code:
        seen.assert_nothing_private()


def test_the_marker_is_seen_wherever_it_may_be():
    """Planted leaks: in a message, in what it is chained to, in a log, a warning, an output."""

    def chained():
        try:
            raise ValueError(MARKER)  # noqa: TRY301
        except ValueError:
            raise DataError("a value is odd") from None

    def message():
        raise DataError(f"{MARKER} is odd")

    for leak in (
        chained,
        message,
        lambda: logging.getLogger("any").warning("odd: %s", MARKER),
        lambda: warnings.warn(f"odd: {MARKER}", stacklevel=1),
        lambda: print(MARKER),  # noqa: T201
    ):
        with odd_input.observed() as seen:
            leak()
        with pytest.raises(AssertionError, match="away"):
            seen.assert_nothing_private()
