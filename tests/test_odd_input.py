"""Odd private input at every public entry: only errors of ours, and nothing private in any.

A marker is in the data alone. It must be in no message, in nothing that an error is chained
to, in no log, warning or output and in no file. ``HYPOTHESIS_PROFILE=exploring`` tries 10,000
inputs at each of the entries.
"""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpselect as dp
from dpselect import networks, percentiles, pooling, retrieval, spatial, trees
from dpselect.cli import main
from support import odd_input
from support.odd_input import MARKER, arrays, columns, csv_files, tables, values

FEW = settings.default.derandomize
library = settings(
    max_examples=5 if FEW else 10_000, suppress_health_check=list(HealthCheck), deadline=None
)
program = settings(library, max_examples=2 if FEW else 2_000)

PUBLIC = {"domains": {"f": [0, 1], "g": (0.0, 9.0, 3)}, "classes": ["a", "b"]}
AR = "add-remove"


def record(data):
    percentiles.release_percentile_record(data, p=50, upper=9, epsilon=1.0)


def value(data):
    percentiles.release_percentiles(
        data, p=[25, 50], candidates=range(10), epsilon=1.0, neighbours=AR
    )


def value_of_column(data):
    percentiles.release_percentiles(
        data, column="f", p=50, candidates=range(10), epsilon=1.0, neighbours="substitute"
    )


def node(edges):
    graph = networks.Graph.from_edges(edges, nodes=9)
    networks.release_nodes(graph, 1, metric="degree", epsilon=1.0)


def node_of_table(table):
    graph = networks.Graph.from_edges(table, source="f", target="g", nodes=9)
    networks.release_nodes(graph, 1, metric="ego-density", epsilon=1.0)


def node_in_an_engine(table):
    graph = networks.EdgeTable(table, source="f", target="g", nodes=9)
    networks.release_nodes(graph, 1, metric="degree", epsilon=1.0)


def tree(table):
    trees.ID3Classifier(1.0, **PUBLIC, max_records=50, neighbours=AR).fit(table, "y")


def tree_of_lists(rows):
    features, labels = [row[:2] for row in rows], [row[2] for row in rows]
    trees.ID3Classifier(1.0, **PUBLIC, max_records=50, neighbours=AR).fit(features, labels)


def histogram(points):
    spatial.release_histogram(
        points,
        bounds=(0, 0, 9, 9),
        grids=[2],
        queries=[[0, 0, 3, 3]],
        epsilon=1.0,
        neighbours=AR,
    )


def histogram_of_users(table):
    spatial.release_histogram(
        table,
        x="f",
        y="g",
        user="y",
        max_points_per_user=2,
        bounds=(0, 0, 9, 9),
        grids=[2],
        queries=[[0, 0, 3, 3]],
        epsilon=1.0,
        neighbours=AR,
    )


def statuses(members):
    retrieval.release_statuses(members, n=9, epsilon=1.0)


def subset(members):
    retrieval.release_subset(members, n=9, beta=1, size_epsilon=0.5, epsilon=1.0, delta=0.5)


def subset_of_public_size(members):
    retrieval.SubsetRetrieval(n=9, d=2, beta=1, epsilon=1.0).release(members)


def outcomes(tested):
    design = np.ones((3, 4), dtype=bool)
    pooling.release_outcomes(tested, design=design, flip=0.1, neighbours="substitute")


def candidate(scores):
    votes = dp.GlobalSensitivity(1.0, AR)
    dp.PermuteAndFlip(epsilon=1.0).release(dp.Objective(scores, votes))


pairs = st.lists(st.tuples(values, values), max_size=6)
triples = st.lists(st.tuples(values, values, values), max_size=6)
ENTRIES = {
    record: arrays(),
    value: arrays(),
    value_of_column: tables("f"),
    node: pairs | st.lists(values, max_size=4),
    node_of_table: tables("f", "g"),
    node_in_an_engine: tables("f", "g"),
    tree: tables("f", "g", "y"),
    tree_of_lists: triples,
    histogram: pairs | arrays(),
    histogram_of_users: tables("f", "g", "y"),
    statuses: columns,
    subset: columns,
    subset_of_public_size: columns,
    outcomes: columns,
    candidate: arrays(),
}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
@library
@given(data=st.data())
def test_only_errors_of_ours_and_nothing_private(entry, data):
    given_data = data.draw(ENTRIES[entry])
    if given_data is None:
        return
    with odd_input.observed() as seen:
        entry(given_data)

    seen.assert_nothing_private()


VALUE = "--column f --p 50 --candidates 0:9:10 --neighbours add-remove --epsilon 1"
NODES = "--source f --target g --nodes 9 --k 1 --metric degree --epsilon 1"
BOX = "--x f --y g --bounds 0,0,9,9 --epsilon 1 --neighbours add-remove"
COMMANDS = {
    "percentile record": "percentile DATA --column f --p 50 --upper 9 --epsilon 1",
    "percentile value": f"percentile DATA {VALUE}",
    "percentile in an engine": f"percentile DATA {VALUE} --engine polars",
    "nodes": f"nodes DATA {NODES}",
    "nodes in an engine": f"nodes DATA {NODES} --engine polars",
    "map": f"map DATA {BOX} --out FOLDER/map.json",
    "select": "select DATA --objective f:global=1 --neighbours add-remove --epsilon 1",
}


@pytest.mark.parametrize("command", COMMANDS)
@program
@given(data=st.data())
def test_commands_end_in_one_line_and_give_nothing_private_away(command, data):
    line = COMMANDS[command]
    text = data.draw(csv_files("f", "g"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data.csv").write_text(text, encoding="utf-8")
        words = line.replace("DATA", f"{folder}/data.csv").replace("FOLDER", name).split()
        with odd_input.observed() as seen:
            main(words)
        written = [path for path in folder.iterdir() if path.name != "data.csv"]
        seen.texts += [path.read_text(encoding="utf-8", errors="replace") for path in written]

    assert odd_input.ends_cleanly(seen.error), seen.texts
    # What is released may be a value of a public candidate, never one of the file.
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
        with pytest.raises(AssertionError, match="given away"):
            seen.assert_nothing_private()
