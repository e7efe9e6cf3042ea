"""Odd private input at every public entry: only errors of ours, and nothing private in any.

A marker is in the data alone. It must be in no message, in nothing that an error is chained
to, in no log, warning or output and in no file. ``HYPOTHESIS_PROFILE=exploring`` tries
more of each, and ``benchmarks/odd_input.py`` as many as there is time for.
"""

import json
import tempfile
from contextlib import chdir
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import dpselect as dp
from dpselect.cli import main
from support import odd_input
from support.odd_arguments import CALLS, ODD
from support.odd_entries import CONTAINERS, ENTRIES, READINGS, data_for, outcome, seeded
from support.odd_input import MARKER, csv_files

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
    budget = dp.Budget(1e6, 0.9, neighbours=call.neighbours)
    with odd_input.observed() as seen:
        call.make(changed, budget)

    seen.assert_nothing_private()
    assert seen.error is None or budget.entries == ()


VALUE = "--column f --p 50 --upper 9 --step 1 --neighbours add-remove --epsilon 1"
NODES = "--source f --target g --nodes 9 --k 1 --metric degree --epsilon 1"
BOX = "--x f --y g --bounds 0,0,9,9 --epsilon 1 --neighbours add-remove"
KEYS = "--column f --user g --max-per-user 2 --epsilon 1 --neighbours add-remove"
DECLARED = {
    "label": "y",
    "classes": ["a", "b"],
    "max_records": 50,
    "columns": {"f": {"values": [0, 1]}, "g": {"low": 0, "high": 9, "bins": 3}},
}
COLLECTOR = "pool,sample\nf,S1\nf,S2\ng,S1\n"
COMMANDS = {
    "percentile record": "record DATA --column f --p 50 --upper 9 --epsilon 1",
    "percentile value": f"percentile DATA {VALUE}",
    "percentile in an engine": f"percentile DATA {VALUE} --engine polars",
    "nodes": f"nodes DATA {NODES}",
    "nodes in an engine": f"nodes DATA {NODES} --engine polars",
    "nodes of persons": f"nodes DATA {NODES} --user y --max-per-user 2",
    "hubs": f"hubs DATA {NODES}".replace("degree", "ego-betweenness"),
    "map": f"map DATA {BOX} --out FOLDER/map.json",
    "select": "select DATA --objective f:global=1 --neighbours add-remove --epsilon 1",
    "top": f"top DATA {KEYS} --k 2 --candidates 0,1,2",
    "top of unknown values": f"top DATA {KEYS} --k 2 --delta 1e-3",
    "keys": f"keys DATA {KEYS} --delta 1e-3",
    "tree": "tree DATA --label y --domains domains.json --epsilon 1 --neighbours add-remove "
    "--save FOLDER/tree.json",
    "pool worksheet": "pool worksheet DATA --design array --rows 2 --columns 4 --out FOLDER/w",
    "pool decode": "pool decode DATA --worksheet collector.csv --out FOLDER/report.csv",
}
COLUMNS = {"pool worksheet": ("sample", "g", "y"), "pool decode": ("pool", "result", "y")}
ODD_TEXTS = [
    *("", " ", "-1", "0", "0.5", "nan", "inf", "1e400", "1e-320", "9" * 30, "x", "f", "/", "."),
    *("1,2", "2,1", "0:9", "0:9:0", "a:b:c", "50,25", "[]", "{", "--json", "\udc80"),
    "\N{SNOWMAN}",
]


def columns_of(command):
    return COLUMNS.get(command, ("f", "g", "y"))


def ended(line, text):
    """Run a command on a CSV file in a folder of its own; return what it gave away."""
    with tempfile.TemporaryDirectory() as name, chdir(name):
        folder = Path(name)
        given = {
            "data.csv": text,
            "domains.json": json.dumps(DECLARED),
            "collector.csv": COLLECTOR,
        }
        for file, content in given.items():
            (folder / file).write_text(content, encoding="utf-8")
        with odd_input.observed() as seen:
            main([w.replace("DATA", "data.csv").replace("FOLDER", name) for w in line])
        written = [p for p in folder.rglob("*") if p.is_file() and p.name not in given]
        seen.texts += [path.read_text(encoding="utf-8", errors="replace") for path in written]
    return seen


@pytest.mark.parametrize("command", COMMANDS)
@program
@given(data=st.data())
def test_commands_end_in_one_line_and_give_nothing_private_away(command, data):
    seen = ended(COMMANDS[command].split(), data.draw(csv_files(*columns_of(command))))

    assert odd_input.ends_cleanly(seen.error), seen.texts
    # What is released may be a value of a public candidate, never one of the file.
    if seen.error.code:
        seen.assert_nothing_private()


@pytest.mark.parametrize("command", COMMANDS)
@program
@given(data=st.data())
def test_odd_options_end_in_one_line_and_give_nothing_private_away(command, data):
    line = COMMANDS[command].split()
    given = [place for place, word in enumerate(line) if line[place - 1].startswith("--")]
    line[data.draw(st.sampled_from(given))] = data.draw(st.sampled_from(ODD_TEXTS))
    rows = f"0,1,a\n1,{MARKER},b\n{MARKER},2,secret{MARKER}\n"
    seen = ended(line, ",".join(columns_of(command)) + "\n" + rows)

    assert odd_input.ends_cleanly(seen.error), seen.texts
    if seen.error.code:
        seen.assert_nothing_private()


def test_the_marker_is_seen_wherever_it_may_be():
    """Planted leaks: in a message, in what it is chained to, in a log, a warning, an output."""
    import logging
    import warnings

    from dpselect.errors import DataError

    def chained():
        try:
            raise ValueError(MARKER)  # noqa: TRY301
        except ValueError:
            raise DataError("a value is odd") from None

    def message():
        raise DataError(f"{MARKER} is odd")

    leaks = (
        chained,
        message,
        lambda: logging.getLogger("any").warning("odd: %s", MARKER),
        lambda: warnings.warn(f"odd: {MARKER}", stacklevel=1),
        lambda: print(MARKER),  # noqa: T201
    )
    for leak in leaks:
        with odd_input.observed() as seen:
            leak()
        with pytest.raises(AssertionError, match="away"):
            seen.assert_nothing_private()
