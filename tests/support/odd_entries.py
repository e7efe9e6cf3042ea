"""Every public entry that reads private data, and odd data of every container for it.

The data are a function of a seed: tests try a few seeds of each entry, and
``benchmarks/odd_input.py`` goes on with as many as there is time for.
"""

import datetime as dt
import io
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import dpselect as dp
import dpselect_pooling as pooling
from dpselect import combine, networks, percentiles, trees
from dpselect.errors import PublicClaimError
from dpselect.tables import Source
from support.engines import duckdb_session
from support.odd_fields import (
    BOTH,
    BOX,
    BY_COLUMN,
    BY_G,
    BY_PERSON,
    COLUMNS,
    DAYS,
    DURATIONS,
    EDGES,
    FRONT,
    KNOWN,
    MEDIAN,
    NODES,
    OF_F,
    PEOPLE,
    PLACES,
    PUBLIC,
    SURE,
    TIMES,
    UNNAMED,
    VARIANTS,
    fitted,
    id3,
    objective,
)
from support.odd_input import MARKER, ODD_VALUES, TEXT, observed
from support.packages import brought
from support.releases.core import MECHANISMS

WIDTHS = {"values": 1, "rows": 2, "labelled": 3, "table": 3, "frame": 3, "counts": 4}
WIDTHS |= {"table of counts": 5}


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


def engine_edges(table):
    edges = networks.EdgeTable.from_edges(table, source="f", target="g", nodes=9)
    return dp.TopNodes(metric="degree", **NODES).release(edges)


def selected_rows(where):
    query = dp.TopKeys(column="y", k=1, candidates=["a", "b"], **BOTH)
    return lambda table: query.release(replace(Source.of(table), where=[where]))


def graph(table):
    return networks.Graph.from_edges(table, source="f", target="g", nodes=9)


def selected(mechanism):
    return lambda scores: mechanism.release(objective(scores))


def combined(how):
    def release(scores):
        made = how([objective(scores), objective(scores)])
        return dp.PermuteAndFlip(epsilon=1.0).release(made)

    return release


# A query is made once: most of them take longer to plan than to release.
SEVERAL = [dp.Percentiles(**OF_F), dp.TopKeys(k=1, **KNOWN), dp.Keys(column="g", **SURE)]


READ = {
    "values": {
        "a record of values": {
            "PercentileRecord": dp.PercentileRecord(p=50, upper=9, epsilon=1.0),
            "percentile": lambda values: percentiles.percentile(values, p=50, upper=9),
        },
        "numbers": {
            "Percentiles": dp.Percentiles(**{**MEDIAN, "p": [25, 50]}),
            "Percentiles of a range": dp.Percentiles(
                p=[25, 75], upper=9, step=0.1, epsilon=1.0, neighbours="substitute"
            ),
        },
        "days": {"Percentiles of days": dp.Percentiles(**DAYS)},
        "keys": {
            "Keys": dp.Keys(**SURE),
            "TopKeys, unknown": dp.TopKeys(k=1, **SURE),
        },
        "candidates": {"TopKeys": dp.TopKeys(k=1, candidates=[0, "a", 2], **BOTH)},
        "members": {
            "Subset": dp.Subset(n=9, epsilon=1.0),
            "Subset of a public size": dp.Subset(n=9, d=2, epsilon=1.0),
        },
        "pools": {
            "PooledOutcomes": pooling.PooledOutcomes(
                matrix=np.ones((3, 4), dtype=bool), flip=0.1, neighbours="substitute"
            )
        },
        "counts in turn": {
            "AboveThreshold": dp.AboveThreshold(threshold=5, sensitivity=1, **BOTH),
        },
        "scores": {
            **{repr(mechanism): selected(mechanism) for mechanism in MECHANISMS},
            "weighted_sum": combined(lambda parts: combine.weighted_sum(parts, [1, 2])),
            "pareto": combined(combine.pareto),
            "margin": combined(combine.margin),
        },
    },
    "rows": {
        "points": {"Map": dp.Map(grids=[2, 3], **BOX)},
        "edges": {"TopNodes": dp.TopNodes(metric="degree", **NODES)},
    },
    "table": {
        "a record of a table": {
            "PercentileRecord, of a table": dp.PercentileRecord(
                column="f", label="y", p=50, upper=9, epsilon=1.0
            )
        },
        "numbers of a column": {
            "Percentiles of a column": dp.Percentiles(**OF_F),
            "Percentiles of differences": dp.Percentiles(minus="g", **OF_F),
        },
        "numbers of persons": {"Percentiles of persons": dp.Percentiles(**OF_F, **PEOPLE)},
        "numbers in groups": {"Percentiles in groups": dp.Percentiles(**BY_G, **OF_F)},
        "numbers in unknown groups": {
            "Percentiles in unknown groups": dp.Percentiles(
                by="g", other=True, **{**OF_F, **SURE}
            )
        },
        "moments of a column": {
            "Percentiles of days, of a column": dp.Percentiles(column="f", **DAYS),
            "Percentiles of times": dp.Percentiles(column="f", **TIMES),
            "Percentiles of durations": dp.Percentiles(column="f", minus="g", **DURATIONS),
        },
        "keys of columns": {
            "Keys of a column": dp.Keys(column="f", missing_keys="key", **SURE),
            "Keys of two columns": dp.Keys(column=["f", "g"], **SURE),
            "TopKeys above a count": dp.TopKeys(above=2, **KNOWN),
        },
        "keys of persons": {
            "Keys of persons": dp.Keys(column="f", **PEOPLE, **SURE),
            "Keys in rounds": dp.Keys(column="f", method="rounds", **PEOPLE, **SURE),
            "TopKeys of persons": dp.TopKeys(k=1, **KNOWN, **PEOPLE),
        },
        "keys in groups": {"TopKeys in groups": dp.TopKeys(k=1, **BY_G, **KNOWN)},
        "keys in unknown groups": {
            "TopKeys in unknown groups": dp.TopKeys(column="f", k=1, by="g", **PEOPLE, **SURE),
            "Keys in unknown groups": dp.Keys(column="f", by="g", **PEOPLE, **SURE),
        },
        "points of a table": {"Map of columns": dp.Map(grids=[2], **PLACES, **BOX)},
        "points of persons": {"Map of persons": dp.Map(grids=[2], **PLACES, **BOX, **PEOPLE)},
        "edges of a table": {
            "TopNodes of a table": dp.TopNodes(metric="ego-density", **EDGES),
            "TopNodes, Pareto": dp.TopNodes(
                metric=["degree", "ego-density"], combine="pareto", **EDGES
            ),
            "Graph.from_edges": graph,
        },
        "edges of persons": {
            "TopNodes of persons": dp.TopNodes(metric="degree", **EDGES, **PEOPLE)
        },
        "edges in an engine": {"TopNodes of an EdgeTable": engine_edges},
        "records of a table": {
            "ID3Tree": trees.ID3Tree(max_depth=1, **BY_COLUMN),
            "TreeFront": trees.TreeFront(**BY_COLUMN, **FRONT),
            "ID3Classifier, of a table": lambda table: id3(PUBLIC).fit(table, "y"),
        },
        "records of persons": {"ID3Tree of persons": trees.ID3Tree(max_depth=1, **BY_PERSON)},
        "selected rows": {
            f"where {one}": selected_rows(one)
            for one in ("f = 'a'", "f >= 1", "g != 1.5", "f = true", "f < '2020-01-01'")
        },
        "several queries": {"run": lambda table: dp.run(SEVERAL, table)},
        "members of a table": {
            "Subset of a table": dp.Subset(
                n=9, column="f", positive="a", label="y", epsilon=1.0
            )
        },
    },
    "labelled": {
        "labelled records": {
            "ID3Classifier": fitted(id3),
            "MultiObjectiveTreeClassifier": fitted(
                lambda: trees.MultiObjectiveTreeClassifier(**UNNAMED, **FRONT)
            ),
        },
    },
}
for module in brought("entries").values():
    for shape, some in module.READ.items():
        for reading, asked in some.items():
            READ.setdefault(shape, {}).setdefault(reading, {}).update(asked)
"""What reads private data: a query or a call, by the shape of the data and the way it is read.

Entries of one reading are read by the same code.
"""
READINGS = {reading: [*asked] for some in READ.values() for reading, asked in some.items()}
ENTRIES = {
    name: Entry(data, getattr(one, "release", one))
    for data, some in READ.items()
    for asked in some.values()
    for name, one in asked.items()
}

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
    "i1", "u8", "f2", "f4", ">f8", "g", "c8", "c16", "?", "S4", "U20", "M8[ns]", "m8[s]", "V8",
]  # fmt: skip
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


def data_for(entry, container, rng, folder, blocks=1):
    """Return odd data of one container, or None where the container has none of them.

    The rows of ``blocks`` small tables stand in one, but where their number is public.
    """
    of_counts = "counts" in entry.data
    length = VARIANTS if of_counts else sum(rng.randrange(9) for _ in range(blocks))
    columns = [_column(rng, length) for _ in range(WIDTHS[entry.data])]
    if entry.data == "table of counts":
        columns[-1] = [*"abcd"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if entry.data == "values":
                return SERIES[container](columns[0], rng)
            if entry.data in {"rows", "labelled", "counts"} and container in LISTS:
                return LISTS[container](columns, rng)
            return _table(container, dict(zip(COLUMNS, columns, strict=False)), rng, folder)
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001 -- not ours
        return None


def _column(rng, length):
    kind = rng.choice([*PLAIN, *ODD])
    pool = PLAIN.get(kind) or [*ODD[kind], *rng.choice([PLAIN["integers"], [None], []])]
    return [rng.choice(pool) for _ in range(length)]


def _rows(columns, rng):
    rows = zip(*columns, strict=True)
    return [rng.choice([list(row), row, np.array(row, dtype=object)]) for row in rows]


def _tuples(columns, rng):
    odd = rng.random() < 0.2 and len(columns) == 2
    return [*zip(*columns, strict=True), *([rng.choice(ODD_VALUES)] if odd else [])]


def _objects(columns, _rng):
    return np.stack([*map(_object_array, columns)], axis=1)


def _array(columns, rng):
    rows = [*zip(*columns, strict=True)]
    return _typed(np.array(rows).reshape(len(rows), len(columns)), rng)


LISTS = {"list": _rows, "tuples": _tuples, "iterators": _tuples}
LISTS |= {"object array": _objects, "array": _array}


def _table(container, named, rng, folder):
    if container in TABLES:
        return TABLES[container](named, rng, folder)
    frame, series = FRAMES[container]
    return frame({name: series(column, rng) for name, column in named.items()})


def _csv(named, rng, folder):
    path = folder / f"{rng.getrandbits(64):x}.csv"
    path.write_bytes(_text(named, rng))
    return path


def _duckdb(named, rng, folder):
    return duckdb_session().from_arrow(_table("polars", named, rng, folder).to_arrow())


def _parquet(named, rng, folder):
    path = folder / f"{rng.getrandbits(64):x}.parquet"
    _table("polars", named, rng, folder).write_parquet(path)
    return path


def _text(named, rng):
    file = io.StringIO(newline="")
    pd.DataFrame(named, dtype=object).to_csv(file, index=False)
    text = file.getvalue().encode(rng.choice(["utf-8", "utf-8-sig"]), "replace")
    if rng.random() < 0.1:
        return text.replace(b"a", rng.choice([b"\xff", b'"', b"\0", b"\r", b","]))
    return text


def _typed(array, rng):
    return array.astype(rng.choice(NUMPY)) if rng.random() < 0.4 else array


def _object_array(column, _rng=None):
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


def _of_arrow(array):
    # pandas cannot say what a view of text is, and polars refuses one that has rows.
    array = array.cast(pa.string()) if array.type == pa.string_view() else array
    return pd.Series(array, dtype=pd.ArrowDtype(array.type))


def _pandas_of_arrow(column, rng):
    return _of_arrow(_arrow(column, rng))


def _pandas_nullable(column, rng):
    return pd.Series(column).convert_dtypes(
        dtype_backend=rng.choice(["numpy_nullable", "pyarrow"])
    )


WIDE = [0, 1, 2, MARKER, MARKER * 10**20, 2**63 - 1, 2**63, 2**64, 2**127 - 1, None]
UNSIGNED = [*WIDE, 2**127, 2**128 - 1]
SIGNED = [*WIDE, -1, -(2**63), -(2**63) - 1, -(2**127)]


def _wide(named, rng, _folder):
    """Return integers of 128 bits in polars or DuckDB."""
    columns, casts = {}, []
    for name, column in named.items():
        pool, kind, sql = rng.choice(
            [(UNSIGNED, pl.UInt128, "UHUGEINT"), (SIGNED, pl.Int128, "HUGEINT")]
        )
        columns[name] = pl.Series([rng.choice(pool) for _ in column], dtype=kind)
        casts.append(f'"{name}"::{sql} AS "{name}"')
    frame = pl.DataFrame(columns)
    if rng.random() < 0.3:
        text = duckdb_session().from_arrow(frame.cast(pl.String).to_arrow())
        return text.project(", ".join(casts))
    return rng.choice([frame, frame.lazy()])


MOMENTS_OF_ARROW = [
    pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"),
    pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("us", "Europe/Paris"),
    pa.duration("us"), pa.duration("s"), pa.duration("ns"), pa.time32("s"), pa.time64("us"),
]  # fmt: skip
PLACES_IN_TIME = [
    0, 18262, -1, MARKER, 10**8, -(10**8), 2**31 - 1, -(2**31), 253402214400,
    253402214400000000, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63) + 1, None,
]  # fmt: skip


def _moments(column, rng):
    kind = rng.choice(MOMENTS_OF_ARROW)
    held = [rng.choice(PLACES_IN_TIME) for _ in column]
    if kind in {pa.date32(), pa.time32("s")}:
        held = [None if one is None else (one + 2**31) % 2**32 - 2**31 for one in held]
        return pa.array(held, pa.int32()).view(kind)
    return pa.array(held, pa.int64()).view(kind)


def _extreme(named, rng, _folder):
    """Return days, times and durations at the ends of what Arrow holds."""
    table = pa.table({name: _moments(column, rng) for name, column in named.items()})
    held = pl.from_arrow(table)
    of_pandas = pd.DataFrame({name: _of_arrow(table[name]) for name in table.column_names})
    return rng.choice([table, of_pandas, held, held.lazy(), duckdb_session().from_arrow(table)])


def _constants(named, rng, folder):
    """Return a file of which statistics know one number, beside NaN and what is missing."""
    one = rng.choice([0.0, 0.5, 3.0, 9.0, float(MARKER), 1e308, float("inf")])
    columns = {}
    for name, column in named.items():
        kind = rng.choice([pl.Float64, pl.Float32, pl.Int64, pl.UInt64, pl.String])
        odd = [one, None, *([float("nan")] if kind in {pl.Float64, pl.Float32} else [])]
        held = pl.Series([rng.choice(odd) for _ in column], dtype=pl.Float64)
        columns[name] = held.cast(kind, strict=False)
    path = folder / f"{rng.getrandbits(64):x}.parquet"
    pl.DataFrame(columns).write_parquet(path, row_group_size=rng.choice([1, 3, 100]))
    read = duckdb_session().read_parquet
    return rng.choice([lambda: path, lambda: pl.scan_parquet(path), lambda: read(str(path))])()


def emptied(data):
    """Return the same container without a row; None where that says nothing."""
    if isinstance(data, Path):
        if data.suffix != ".parquet":
            return None
        none = data.with_name("none.parquet")
        pl.scan_parquet(data).head(0).collect().write_parquet(none)
        return none
    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame | nw.Series):
        return nw.to_native(frame.head(0))
    return None


OWN = {
    one for name in ("members", "counts in turn", "genotypes") for one in READINGS.get(name, ())
}
"""Entries of what the caller counted or numbered himself, where each value must be right."""

_REFUSED_EMPTY = {}
"""Whether an entry refuses a container of some types that has no row."""


def outcome(name, data, error):
    """Return what became of data at an entry, none of whose errors was foreign.

    ``"released"``; ``"claimed"``, where data contradict what the caller declares of them;
    ``"own"``, where a value that the caller counted or numbered himself is wrong;
    ``"refused"`` for the types; and ``"decided"``, which must not be: the same container
    without a row is not refused.
    """
    if error is None:
        return "released"
    if isinstance(error, PublicClaimError):
        return "claimed"
    if name in OWN:
        return "own"
    none = emptied(data)
    if none is None:
        return "refused"
    held = pl.scan_parquet(none) if isinstance(none, Path) else none
    frame = nw.from_native(held, allow_series=True)
    types = frame.dtype if isinstance(frame, nw.Series) else frame.collect_schema()
    key = name, type(none), str(types)
    if key not in _REFUSED_EMPTY:
        with observed() as seen:
            ENTRIES[name].call(none)
        _REFUSED_EMPTY[key] = seen.error is not None
    return "refused" if _REFUSED_EMPTY[key] else "decided"


def _pandas(column, rng):
    made = pd.Series(column)
    return made.astype(rng.choice(PANDAS)) if rng.random() < 0.4 else made


SERIES = {
    "list": lambda column, _: column,
    "tuple": lambda column, _: tuple(column),
    "generator": lambda column, _: iter(column),
    "object array": _object_array,
    "array": lambda column, rng: _typed(np.array(column), rng),
    "polars": _polars,
    "pandas": _pandas,
    "arrow": _arrow,
    "pandas of Arrow": _pandas_of_arrow,
    "pandas nullable": _pandas_nullable,
    "extreme moments": lambda column, rng: rng.choice(
        [_moments, lambda *asked: _of_arrow(_moments(*asked))]
    )(column, rng),
}

FRAMES = {
    "dictionary": (dict, SERIES["list"]),
    "pandas": (pd.DataFrame, _pandas),
    "pandas objects": (pd.DataFrame, lambda column, _: pd.Series(column, dtype=object)),
    "pandas of Arrow": (pd.DataFrame, _pandas_of_arrow),
    "pandas nullable": (pd.DataFrame, _pandas_nullable),
    "arrow": (pa.table, _arrow),
    "polars": (pl.DataFrame, _polars),
    "lazy": (pl.LazyFrame, _polars),
}


FILES = {"duckdb": _duckdb, "csv": _csv, "parquet": _parquet}
ENDS = {"wide integers": _wide, "extreme moments": _extreme, "constants": _constants}
TABLES = FILES | ENDS
OF_PANDAS = ["pandas of Arrow", "pandas nullable"]
CONTAINERS = {
    "values": [*SERIES],
    "rows": [*LISTS, "polars", "pandas", "arrow", *OF_PANDAS],
    "counts": [one for one in LISTS if one != "iterators"],
    "labelled": [one for one in LISTS if one != "iterators"],
    "frame": [one for one in FRAMES if one not in {"dictionary", "lazy"}],
    "table": [*FRAMES, *TABLES],
    "table of counts": [*FRAMES, *FILES],
}


def seeded(name, container, seed):
    """Return the random numbers of one case."""
    return random.Random(f"{name} {container} {seed}")  # noqa: S311 -- which odd data
