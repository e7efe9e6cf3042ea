"""Every public entry that reads private data, and odd data of every container for it.

The data are a function of a seed: tests try a few seeds of each entry, and
``benchmarks/odd_input.py`` goes on with as many as there is time for.
"""

import datetime as dt
import io
import random
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import dpselect as dp
import dpselect_pooling as pooling
from dpselect import combine, networks, percentiles, trees, tuning
from dpselect.variants import genotype_counts
from support.odd_input import MARKER, ODD_VALUES, TEXT

AR = "add-remove"
COLUMNS = ("f", "g", "y", "z", "name")
WIDTHS = {
    "values": 1,
    "rows": 2,
    "labelled": 3,
    "table": 3,
    "frame": 3,
    "counts": 4,
    "table of counts": 5,
}
VARIANTS = 4
"""Rows of counts, whose number is public."""


@dataclass(frozen=True)
class Entry:
    """One call.

    Attributes:
        data: One of ``"values"``, ``"rows"`` of two values, ``"labelled"`` rows of three,
            ``"counts"``, four rows of four, ``"table"`` with the columns f, g and y,
            ``"frame"``, one in memory, and a ``"table of counts"`` with names.
        call: Called with the data.
    """

    data: str
    call: Callable[[Any], object]


def values_of(kind, **asked):
    """Return the entry of a query that reads one value for each record."""
    return Entry("values", kind(**asked).release)


def rows_of(kind, **asked):
    """Return the entry of a query that reads two values for each record."""
    return Entry("rows", kind(**asked).release)


def table_of(kind, **asked):
    """Return the entry of a query that reads columns of a table."""
    return Entry("table", kind(**asked).release)


BOTH = {"epsilon": 1.0, "neighbours": AR}
SURE = {"epsilon": 1.0, "delta": 1e-3, "neighbours": AR}
OF_F = {"column": "f", "p": 50, "candidates": range(10), **BOTH}
PEOPLE = {"user": "y", "max_per_user": 2}
SEQUENCE = {"mechanism": "noisy-sequence", "interval": 0.9}
DAYS = {
    "p": 50,
    "lower": dt.date(2020, 1, 1),
    "upper": dt.date(2020, 1, 9),
    "step": dt.timedelta(days=1),
}
TIMES = {
    "p": 50,
    "lower": dt.datetime(2020, 1, 1),  # noqa: DTZ001 -- local times
    "upper": dt.datetime(2020, 1, 9),  # noqa: DTZ001
    "step": dt.timedelta(days=1),
}
DURATIONS = {
    "p": 50,
    "lower": dt.timedelta(),
    "upper": dt.timedelta(days=9),
    "step": dt.timedelta(days=1),
}
KNOWN = {"column": "f", "candidates": [0, "a", 2], **BOTH}
BOX = {"bounds": (0, 0, 9, 9), **BOTH}
PLACES = {"x": "f", "y": "g", **BOX}
NODES = {"nodes": 9, "k": 1, "epsilon": 1.0}
EDGES = {"source": "f", "target": "g", **NODES}
DOMAINS = {"f": [0, 1], "g": (0.0, 9.0, 3)}
PUBLIC = {"domains": DOMAINS, "classes": ["a", "b"], "max_records": 50, **BOTH}
CODES = {"tree": {"a": "1", "b": "1", "0": "2", "3": "2"}, **BOTH}
NUMBERS = {"tree": {"0": "8", "1": "8", "2": "9", "3": "9"}, **BOTH}
BY_COLUMN = {**PUBLIC, "label": "y"}
BY_PERSON = {**PUBLIC, "domains": {"g": (0.0, 9.0, 3)}, "label": "f", **PEOPLE}
UNNAMED = {**PUBLIC, "domains": list(DOMAINS.values())}
FRONT = {
    "population": 4,
    "survivors": 2,
    "front": 1,
    "generations": 1,
    "initial_depth": 1,
    "max_depth": 1,
    "random_state": 1,
}


def engine_edges(table):
    edges = networks.EdgeTable(table, source="f", target="g", nodes=9)
    return dp.TopNodes(metric="degree", **NODES).release(edges)


def graph(table):
    return networks.Graph.from_edges(table, source="f", target="g", nodes=9)


def fitted(made):
    def fit(rows):
        if isinstance(rows, np.ndarray):
            return made().fit(rows[:, :2], rows[:, 2])
        return made().fit([row[:2] for row in rows], [row[2] for row in rows])

    return Entry("labelled", fit)


def labels_apart(call):
    def called(table):
        frame = nw.from_native(table, eager_only=True)
        return call(nw.to_native(frame.select("f", "g")), nw.to_native(frame["y"]))

    return Entry("frame", called)


def fitted_to_table(made):
    return Entry("table", lambda table: made().fit(table, "y"))


def id3(domains=UNNAMED, **asked):
    return trees.ID3Classifier(**{**domains, "max_depth": 1, **asked})


def search(**asked):
    grid = {"max_depth": [0, 1]}
    return tuning.PrivateSearchCV(id3(**asked), grid, epsilon=2.0, method="all", random_state=1)


def front():
    return trees.MultiObjectiveTreeClassifier(**UNNAMED, **FRONT)


def best_columns():
    return trees.PrivateSelectKBest(**UNNAMED, k=1)


def objective(scores, relation=AR):
    return dp.Objective(scores, dp.GlobalSensitivity(1.0, relation, l1=1.0))


def selected(mechanism, k=1):
    return Entry("values", lambda scores: mechanism.release(objective(scores), k))


def combined(how):
    def release(scores):
        made = how([objective(scores), objective(scores)])
        return dp.PermuteAndFlip(epsilon=1.0).release(made)

    return Entry("values", release)


def votes(scores):
    made = dp.Objective(scores, dp.GlobalSensitivity(1.0, AR), monotone=True)
    return dp.StableArgmax(**SURE).release(made)


# A query is made once: most of them take longer to plan than to release.
MEDIAN = dp.Percentiles(p=50, candidates=range(10), **BOTH)
BEST = dp.BestOf(repetitions=tuning.Geometric(mean=2), epsilon_per_run=1.0, neighbours=AR)
SEVERAL = [dp.Percentiles(**OF_F), dp.TopKeys(k=1, **KNOWN), dp.Keys(column="g", **SURE)]
TOP = dp.TopKeys(k=1, candidates=[0, "a"], **BOTH)
SEARCH = tuning.Search(
    estimator=trees.ID3Classifier(**PUBLIC, max_depth=1),
    grid={"max_depth": [0, 1]},
    columns=["f", "g"],
    method="all",
    epsilon=2.0,
)


def best_of(given):
    return BEST.release([lambda: (1.0, MEDIAN.release(given).answer)])


def studied(given):
    study = tuning.PrivateStudy(["a", "b"], BEST)
    for _ in study:
        study.tell(1.0, MEDIAN.release(given))
    return study.release


def classifier():
    return tuning.PrivateClassifier(id3(epsilon=1.0), epsilon=1.0, neighbours=AR)


def ran(table):
    return dp.run(SEVERAL, table)


def variants():
    return dp.TopVariants(
        variants=4, counts=COLUMNS[:4], label=COLUMNS[4], cases=5, controls=5, k=1, epsilon=1.0
    )


def genotypes(copies):
    return genotype_counts(copies, np.arange(4) < 2)


def stream(values):
    query = dp.AboveThreshold(threshold=5, sensitivity=1, **BOTH)
    with suppress(ValueError, OverflowError):
        # Whoever asks one by one reads them: a Series may hold days that Python does not have.
        values = list(values)
    with query.stream() as asked:
        for one in values if isinstance(values, list) else ():
            if not asked.stops_left:
                break
            asked.is_above(one)
    return asked.release


DESIGN = np.ones((3, 4), dtype=bool)
METHODS = ("above-threshold", "noisy-counts", "one-by-one")
ENTRIES = {
    "PercentileRecord": values_of(dp.PercentileRecord, p=50, upper=9, epsilon=1.0),
    "PercentileRecord, of a table": table_of(
        dp.PercentileRecord, column="f", label="y", p=50, upper=9, epsilon=1.0
    ),
    "percentile": Entry("values", lambda x: percentiles.percentile(x, p=50, upper=9)),
    **{
        f"Percentiles, {one}": values_of(
            dp.Percentiles, p=[25, 50], candidates=range(10), method=one, **BOTH
        )
        for one in METHODS
    },
    "Percentiles of a range": values_of(
        dp.Percentiles, p=[25, 75], upper=9, step=0.1, epsilon=1.0, neighbours="substitute"
    ),
    "Percentiles of a column": table_of(dp.Percentiles, **OF_F),
    "Percentiles from both ends": values_of(
        dp.Percentiles,
        p=[1, 5, 50, 99],
        candidates=range(10),
        assumed_records=5000,
        epsilon=9.0,
        neighbours=AR,
    ),
    "Percentiles of persons": table_of(dp.Percentiles, **OF_F, **PEOPLE),
    "Percentiles in groups": table_of(dp.Percentiles, by="g", groups=[0, "a"], **OF_F),
    "Percentiles in unknown groups": table_of(
        dp.Percentiles, by="g", other=True, **{**OF_F, **SURE}
    ),
    "Percentiles with intervals": values_of(
        dp.Percentiles, p=50, candidates=range(10), interval=0.95, **BOTH
    ),
    "Percentiles of differences": table_of(dp.Percentiles, minus="g", **OF_F),
    "Percentiles of days": values_of(dp.Percentiles, **DAYS, **BOTH),
    "Percentiles of days, of a column": table_of(dp.Percentiles, column="f", **DAYS, **BOTH),
    "Percentiles of times": table_of(dp.Percentiles, column="f", **TIMES, **BOTH),
    "Percentiles of durations": table_of(
        dp.Percentiles, column="f", minus="g", **DURATIONS, **BOTH
    ),
    "Keys": values_of(dp.Keys, **SURE),
    "Keys, Gaussian": values_of(dp.Keys, method="gaussian", **SURE),
    "Keys of a column": table_of(dp.Keys, column="f", missing_keys="key", **SURE),
    "Keys of two columns": table_of(dp.Keys, column=["f", "g"], **SURE),
    "Keys of persons": table_of(dp.Keys, column="f", **PEOPLE, **SURE),
    "Keys in rounds": table_of(dp.Keys, column="f", method="rounds", **PEOPLE, **SURE),
    "TopKeys": values_of(dp.TopKeys, k=1, candidates=[0, "a", 2], **BOTH),
    "TopKeys, unknown": values_of(dp.TopKeys, k=1, **SURE),
    "TopKeys with intervals": values_of(
        dp.TopKeys, k=1, candidates=range(9), **SEQUENCE, **BOTH
    ),
    "TopKeys above a count": table_of(dp.TopKeys, above=2, **KNOWN),
    "TopKeys of persons": table_of(dp.TopKeys, k=1, **KNOWN, **PEOPLE),
    "TopKeys in groups": table_of(dp.TopKeys, k=1, by="g", groups=[0, "a"], **KNOWN),
    "TopKeys in unknown groups": table_of(
        dp.TopKeys, column="f", k=1, by="g", **PEOPLE, **SURE
    ),
    "Keys in unknown groups": table_of(dp.Keys, column="f", by="g", **PEOPLE, **SURE),
    "Series": table_of(
        dp.Series, column="f", period="g", periods=[0, "a", 2], k=1, candidates=[0, "a"], **BOTH
    ),
    "HeavyCells": rows_of(dp.HeavyCells, grid=2, k=1, **BOX),
    "HeavyCells of persons": table_of(dp.HeavyCells, grid=2, k=1, **PLACES, **PEOPLE),
    "HeavyCells with intervals": rows_of(dp.HeavyCells, grid=9, k=1, **SEQUENCE, **BOX),
    "HeavyCells, clipped": table_of(dp.HeavyCells, grid=2, k=1, outside="clip", **PLACES),
    "HeavyCells in groups": table_of(
        dp.HeavyCells, grid=2, k=1, by="y", groups=[0, "a"], **PLACES
    ),
    "Map": rows_of(dp.Map, grids=[2, 3], **BOX),
    "Map of columns": table_of(dp.Map, grids=[2], **PLACES),
    "Map of persons": table_of(dp.Map, grids=[2], **PLACES, **PEOPLE),
    "TopNodes": rows_of(dp.TopNodes, metric="degree", **NODES),
    "TopNodes, betweenness": rows_of(dp.TopNodes, metric="ego-betweenness", **NODES),
    "TopNodes of a table": table_of(dp.TopNodes, metric="ego-density", **EDGES),
    "TopNodes, Pareto": table_of(
        dp.TopNodes, metric=["degree", "ego-density"], combine="pareto", **EDGES
    ),
    "TopNodes of persons": table_of(dp.TopNodes, metric="degree", **EDGES, **PEOPLE),
    "TopNodes of an EdgeTable": Entry("table", engine_edges),
    "Graph.from_edges": Entry("table", graph),
    "TopNodes with intervals": rows_of(dp.TopNodes, metric="degree", **SEQUENCE, **NODES),
    "Levels": values_of(dp.Levels, **CODES),
    "Levels of a column": table_of(dp.Levels, column="f", inner="own", **CODES),
    "Levels of numbers": table_of(dp.Levels, column="f", inner="own", **NUMBERS),
    "Levels of persons": table_of(dp.Levels, column="f", **CODES, **PEOPLE),
    "Hubs": rows_of(dp.Hubs, metric="ego-density", **NODES),
    "Hubs of persons": table_of(dp.Hubs, metric="ego-density", **EDGES, **PEOPLE),
    "ID3Tree": table_of(trees.ID3Tree, max_depth=1, **BY_COLUMN),
    "ID3Tree of persons": table_of(trees.ID3Tree, max_depth=1, **BY_PERSON),
    "BestColumns": table_of(trees.BestColumns, k=1, **BY_COLUMN),
    "TreeFront": table_of(trees.TreeFront, **BY_COLUMN, **FRONT),
    "ID3Classifier": fitted(id3),
    "ID3Classifier, of a table": fitted_to_table(lambda: id3(PUBLIC)),
    "MultiObjectiveTreeClassifier": fitted(front),
    "PrivateSelectKBest": fitted(best_columns),
    "PrivateSearchCV": fitted(search),
    "PrivateSearchCV, of a frame": labels_apart(lambda x, y: search(domains=PUBLIC).fit(x, y)),
    "Search": labels_apart(lambda x, y: SEARCH.release((x, y))),
    "BestOf": Entry("values", best_of),
    "PrivateStudy": Entry("values", studied),
    "PrivateClassifier": fitted(classifier),
    "run": Entry("table", ran),
    "TopVariants": Entry("counts", variants().release),
    "TopVariants of a table": Entry("table of counts", variants().release),
    "genotype_counts": Entry("counts", genotypes),
    "StableArgmax": Entry("values", votes),
    "Statuses": values_of(dp.Statuses, n=9, epsilon=1.0),
    "Subset": values_of(dp.Subset, n=9, epsilon=1.0),
    "Subset of a public size": values_of(dp.Subset, n=9, d=2, epsilon=1.0),
    "Subset of a table": table_of(
        dp.Subset, n=9, column="f", positive="a", label="y", epsilon=1.0
    ),
    "PooledOutcomes": values_of(
        pooling.PooledOutcomes, matrix=DESIGN, flip=0.1, neighbours="substitute"
    ),
    "AboveThreshold": values_of(dp.AboveThreshold, threshold=5, sensitivity=1, **BOTH),
    "AboveThreshold, a stream": Entry("values", stream),
    "ExponentialMechanism": selected(dp.ExponentialMechanism(epsilon=1.0)),
    "PermuteAndFlip": selected(dp.PermuteAndFlip(epsilon=1.0)),
    "ReportNoisyMax": selected(dp.ReportNoisyMax(epsilon=1.0)),
    "LocalDampening": selected(dp.LocalDampening(epsilon=1.0)),
    "ShiftedLocalDampening": selected(
        dp.ShiftedLocalDampening(epsilon=1.0, direction="non-decreasing")
    ),
    "AnchoredLocalDampening": selected(dp.AnchoredLocalDampening(epsilon=1.0, anchor=9.0)),
    "PairwiseLocalDampening": selected(dp.PairwiseLocalDampening(epsilon=1.0)),
    "GeneralizedExponential": selected(dp.GeneralizedExponential(epsilon=1.0)),
    "NoisySequence": selected(dp.NoisySequence(epsilon=1.0, l1=1.0, bound=1.0, step=1.0)),
    "weighted_sum": combined(lambda parts: combine.weighted_sum(parts, [1, 2])),
    "pareto": combined(combine.pareto),
    "margin": combined(combine.margin),
}

READINGS = {
    "a record of values": ["PercentileRecord", "percentile"],
    "a record of a table": ["PercentileRecord, of a table"],
    "numbers": [
        *(f"Percentiles, {one}" for one in METHODS),
        "Percentiles of a range",
        "Percentiles from both ends",
        "Percentiles with intervals",
        "BestOf",
        "PrivateStudy",
    ],
    "numbers of a column": ["Percentiles of a column", "Percentiles of differences"],
    "numbers of persons": ["Percentiles of persons"],
    "numbers in groups": ["Percentiles in groups"],
    "numbers in unknown groups": ["Percentiles in unknown groups"],
    "days": ["Percentiles of days"],
    "moments of a column": [
        "Percentiles of days, of a column",
        "Percentiles of times",
        "Percentiles of durations",
    ],
    "keys": ["Keys", "Keys, Gaussian", "TopKeys, unknown"],
    "candidates": ["TopKeys", "TopKeys with intervals", "Levels"],
    "keys of columns": [
        "Keys of a column",
        "Keys of two columns",
        "TopKeys, unknown, by draws",
        "TopKeys above a count",
        "Levels of a column",
        "Levels of numbers",
    ],
    "keys of persons": [
        "Keys of persons",
        "Keys in rounds",
        "TopKeys of persons",
        "Levels of persons",
    ],
    "keys in groups": ["TopKeys in groups"],
    "keys in unknown groups": ["TopKeys in unknown groups", "Keys in unknown groups"],
    "keys of periods": ["Series"],
    "points": ["HeavyCells", "HeavyCells with intervals", "Map"],
    "points of a table": ["HeavyCells, clipped", "Map of columns"],
    "points of persons": [
        "HeavyCells of persons",
        "Map of persons",
    ],
    "points in groups": ["HeavyCells in groups"],
    "edges": ["TopNodes", "TopNodes, betweenness", "TopNodes with intervals", "Hubs"],
    "edges of a table": [
        "TopNodes of a table",
        "TopNodes, Pareto",
        "Graph.from_edges",
    ],
    "edges of persons": ["TopNodes of persons", "Hubs of persons"],
    "edges in an engine": ["TopNodes of an EdgeTable"],
    "records of a table": [
        "ID3Tree",
        "BestColumns",
        "TreeFront",
        "ID3Classifier, of a table",
    ],
    "records of persons": ["ID3Tree of persons"],
    "labelled records": [
        "ID3Classifier",
        "MultiObjectiveTreeClassifier",
        "PrivateSelectKBest",
        "PrivateClassifier",
    ],
    "parts of labelled records": ["PrivateSearchCV"],
    "parts of a frame": ["PrivateSearchCV, of a frame", "Search"],
    "several queries": ["run"],
    "variants": ["TopVariants"],
    "variants of a table": ["TopVariants of a table"],
    "genotypes": ["genotype_counts"],
    "members": ["Statuses", "Subset", "Subset of a public size"],
    "members of a table": ["Subset of a table"],
    "pools": ["PooledOutcomes"],
    "counts in turn": ["AboveThreshold", "AboveThreshold, a stream"],
    "scores": [
        "StableArgmax",
        "ExponentialMechanism",
        "PermuteAndFlip",
        "ReportNoisyMax",
        "LocalDampening",
        "ShiftedLocalDampening",
        "AnchoredLocalDampening",
        "PairwiseLocalDampening",
        "GeneralizedExponential",
        "NoisySequence",
        "weighted_sum",
        "pareto",
        "margin",
    ],
}
"""The ways by which containers are read, and the entries that read so: by the same code."""

PLAIN = {
    "integers": [*range(10)],
    "numbers": [0.0, 0.5, 3.0, 9.0, -1.0],
    "texts": ["a", "b", "", TEXT],
    "mixed": [0, 1, 2.5, "a", None, True],
    "numbers and None": [0, 1.5, None],
}
ODD = {
    "odd": ODD_VALUES,
    "dates": [dt.date(2020, 2, 29), dt.datetime(1, 1, 1), None],  # noqa: DTZ001 -- odd
    "decimals": [Decimal(MARKER), Decimal("0.5"), None],
    "complex": [1j * MARKER, 1j, 0j],
    "large": [MARKER * 10**9, 2**53 + 1, 2**63 - 1, -(2**63)],
    "unsigned": [2**64 - 1, MARKER],
    "bytes": [TEXT.encode(), b"\xff", b""],
    "not finite": [float("nan"), float("inf"), MARKER + 0.5, 1e308],
}
NUMPY = [
    "i1",
    "u8",
    "f2",
    "f4",
    ">f8",
    "g",
    "c8",
    "c16",
    "?",
    "S4",
    "U20",
    "M8[ns]",
    "m8[s]",
    "V8",
]
POLARS = [
    pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Boolean, pl.String, pl.Categorical, pl.Binary,
    pl.Date, pl.Datetime("ns", "UTC"), pl.Duration, pl.Time, pl.Decimal(20, 3), pl.Null,
    pl.List(pl.Int64), pl.Array(pl.Int64, 1), pl.Struct({"a": pl.Int64}), pl.Object,
    pl.Enum(["a", "b", TEXT]),
]  # fmt: skip
PANDAS = [
    "Int64", "UInt8", "Float32", "boolean", "string", "str", "category", "complex128", "bool",
    "datetime64[ns]", "datetime64[ns, UTC]", "timedelta64[s]", "period[D]", "Sparse[float]",
    "int64[pyarrow]", "string[pyarrow]", "double[pyarrow]", "float16",
]  # fmt: skip
ARROW = [
    pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.bool_(), pa.string(),
    pa.large_string(), pa.string_view(), pa.binary(), pa.binary(3), pa.date32(), pa.date64(),
    pa.timestamp("ns", "UTC"), pa.duration("s"), pa.time64("us"), pa.decimal128(20, 3),
    pa.decimal256(50), pa.null(), pa.list_(pa.int64()), pa.struct([("a", pa.int64())]),
    pa.dictionary(pa.int8(), pa.string()), pa.map_(pa.string(), pa.int64()),
    pa.month_day_nano_interval(),
]  # fmt: skip

CONTAINERS = {
    "values": [
        "list", "tuple", "generator", "object array", "array", "polars", "pandas", "arrow",
    ],
    "rows": [
        "list", "tuples", "iterators", "object array", "array", "polars", "pandas", "arrow",
    ],
    "counts": ["list", "tuples", "object array", "array"],
    "frame": ["polars", "pandas", "pandas objects", "arrow"],
    "labelled": ["list", "tuples", "object array", "array"],
    "table": [
        "polars", "lazy", "pandas", "pandas objects", "arrow", "dictionary", "duckdb", "csv",
        "parquet",
    ],
}  # fmt: skip
CONTAINERS["table of counts"] = CONTAINERS["table"]
ROWS = {"rows", "labelled", "counts"}


def data_for(entry, container, rng, folder):
    """Return odd data of one container, or None where the container has none of them."""
    of_counts = "counts" in entry.data
    length = VARIANTS if of_counts else rng.randrange(9)
    columns = [_column(rng, length) for _ in range(WIDTHS[entry.data])]
    if entry.data == "table of counts":
        columns[-1] = [*"abcd"]
    make = _values if entry.data == "values" else _rows if entry.data in ROWS else _table
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(container, columns, rng, folder)
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 -- not ours
        return None


def _column(rng, length):
    kind = rng.choice([*PLAIN, *ODD])
    pool = PLAIN.get(kind) or [*ODD[kind], *rng.choice([PLAIN["integers"], [None], []])]
    return [rng.choice(pool) for _ in range(length)]


def _values(container, columns, rng, _folder):
    [column] = columns
    return _SERIES[container](column, rng)


def _rows(container, columns, rng, _folder):
    rows = list(zip(*columns, strict=True))
    if container == "list":
        return [rng.choice([list(row), row, np.array(row, dtype=object)]) for row in rows]
    if container in {"tuples", "iterators"}:
        odd = rng.random() < 0.2 and len(columns) == 2
        return [*rows, rng.choice(ODD_VALUES)] if odd else rows
    if container == "object array":
        table = np.empty((len(rows), len(columns)), dtype=object)
        for j, column in enumerate(columns):
            table[:, j] = _SERIES["object array"](column, rng)
        return table
    if container == "array":
        return _typed(np.array(rows).reshape(len(rows), len(columns)), rng)
    return _table(container, columns, rng, None)


def _table(container, columns, rng, folder):
    named = dict(zip(COLUMNS, columns, strict=False))
    if container == "csv":
        path = folder / f"{rng.getrandbits(64):x}.csv"
        path.write_bytes(_text(named, rng))
        return path
    if container in _FRAMES:
        frame, series = _FRAMES[container]
        return frame({name: series(v, rng) for name, v in named.items()})
    frame = _table("polars", columns, rng, folder)
    if container == "duckdb":
        return _duckdb().from_arrow(frame.to_arrow())
    path = folder / f"{rng.getrandbits(64):x}.parquet"
    frame.write_parquet(path)
    return path


@cache
def _duckdb():
    # A connection takes longer to open than most releases.
    return duckdb.connect()


def _text(named, rng):
    file = io.StringIO(newline="")
    pd.DataFrame(named, dtype=object).to_csv(file, index=False)
    text = file.getvalue().encode(rng.choice(["utf-8", "utf-8-sig"]), "replace")
    if rng.random() < 0.1:
        return text.replace(b"a", rng.choice([b"\xff", b'"', b"\0", b"\r", b","]))
    return text


def _typed(array, rng):
    return array.astype(rng.choice(NUMPY)) if rng.random() < 0.4 else array


def _object_array(column, _rng):
    return np.fromiter(column, dtype=object, count=len(column))


def _arrow(column, rng):
    # pyarrow 26 ends the process at pa.array([np.datetime64("NaT", "s"), np.int64(1)]): it
    # reads the second scalar of NumPy as a date. That call is no one's but the test's.
    safe = [None if isinstance(one, np.datetime64) else one for one in column]
    made = pa.array(safe)
    if rng.random() < 0.1:
        return made.dictionary_encode()
    return made.cast(rng.choice(ARROW), safe=False) if rng.random() < 0.4 else made


def _polars(column, rng):
    made = pl.Series(column, strict=False)
    if rng.random() < 0.1:
        return pl.Series(column, dtype=pl.Object)
    return made.cast(rng.choice(POLARS), strict=False) if rng.random() < 0.4 else made


def _pandas(column, rng):
    made = pd.Series(column)
    return made.astype(rng.choice(PANDAS)) if rng.random() < 0.4 else made


_SERIES = {
    "list": lambda column, _: column,
    "tuple": lambda column, _: tuple(column),
    "generator": lambda column, _: iter(column),
    "object array": _object_array,
    "array": lambda column, rng: _typed(np.array(column), rng),
    "polars": _polars,
    "pandas": _pandas,
    "arrow": _arrow,
}

_FRAMES = {
    "dictionary": (dict, _SERIES["list"]),
    "pandas": (pd.DataFrame, _pandas),
    "pandas objects": (pd.DataFrame, lambda column, _: pd.Series(column, dtype=object)),
    "arrow": (pa.table, _arrow),
    "polars": (pl.DataFrame, _polars),
    "lazy": (pl.LazyFrame, _polars),
}


def seeded(name, container, seed):
    """Return the random numbers of one case."""
    return random.Random(f"{name} {container} {seed}")  # noqa: S311 -- which odd data
