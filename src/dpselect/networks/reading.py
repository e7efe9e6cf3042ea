"""Edge lists from files, data frames, pairs and matrices, as positions of their two ends.

Files of networks that are no tables are edge lists of SNAP, GraphML, GML, Pajek and
MatrixMarket: directions, weights and attributes are left out, as of every list of edges. Where
nodes are the ids 0 to n - 1, vertices of Pajek and rows of MatrixMarket, which count from 1,
are one less.

An end that is missing, or not among the public nodes, has the position ``UNKNOWN``, whatever
the other records hold: every value is looked up by itself.

Where rows belong to persons, a person's rows that are edges of the graph are folded, and of the
different edges so many are counted, in the order of their ends (``dpselect.tables.people``). An
edge is in the graph if one person's row of it is counted: others who have it too do not matter.
So a person who comes or goes changes at most so many edges, those that nobody else has.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import tables, validation
from dpselect._optional import needed, replaced
from dpselect.errors import (
    ColumnError,
    DataError,
    ParameterError,
    PublicClaimError,
)
from dpselect.tables import values
from dpselect.tables.dialect import Dialect
from dpselect.tables.engine import engine_of
from dpselect.tables.kinds import coded, declares_nothing, type_name
from dpselect.tables.people import PeopleCap
from dpselect.tables.source import Source, ending
from dpselect.tables.text import TextFiles
from dpselect.tables.values import pair, plain_value
from dpselect.typing import Indices, OnInvalid

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from narwhals.typing import IntoFrame

Nodes: TypeAlias = int | Iterable[Hashable]
"""The public nodes: ``n`` for ids ``0`` to ``n - 1``, or all ids or labels."""

Edges: TypeAlias = "str | os.PathLike[str] | Source | IntoFrame | ArrayLike"
"""A file, a data frame that narwhals knows, pairs of shape ``(m, 2)``, or a sparse matrix."""

MOST_NODES = 2**31 - 1
"""Positions of nodes are 32-bit integers, and products of two degrees fit 64 bits."""

WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")

ADJACENCY = "an adjacency is a sparse matrix of SciPy, as scipy.sparse.coo_array(rows)"

UNKNOWN = -1
"""The position of an end that is not among the nodes."""


LINE = Dialect(separator="\x01", quote="none", header=("line",), comment="#")
"""A text file of lines that are not cut."""

ENDS = r"^([^\s,;]+)[\s,;]+([^\s,;]+)"
"""The first two fields of a line."""


class Ends(NamedTuple):
    """Two ends for each record, by position among the nodes or ``UNKNOWN``; int32."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]


def checked_nodes(nodes: Nodes) -> Sequence[Hashable]:
    """Return the ids or labels of all nodes: at least one, and none twice.

    Raises:
        ParameterError: ``nodes`` is not a number >= 1 and not such labels.
    """
    if isinstance(nodes, (str, bytes)):
        raise ParameterError("`nodes` must be a number of nodes, or all their ids or labels")
    if isinstance(nodes, range) and nodes and nodes == range(len(nodes)):
        return nodes
    if not isinstance(nodes, Iterable) or getattr(nodes, "ndim", 1) == 0:
        return range(validation.at_least("nodes", nodes, 1, MOST_NODES))
    # The elements of arrays and series are not plain Python values; tolist() makes them so.
    labels = tuple(nodes.tolist() if hasattr(nodes, "tolist") else nodes)
    validation.different("nodes", labels)
    return range(len(labels)) if labels == tuple(range(len(labels))) else labels


def read(
    edges: Edges, source: str | None, target: str | None, nodes: Sequence[Hashable]
) -> Ends:
    """Read edges of any kind as positions among ``nodes``.

    Raises:
        ParameterError: Columns of a file or frame are not named.
        ColumnError: A column is missing, or its type cannot hold such nodes.
        DataError: The edges cannot be read, or are not pairs.
    """
    if is_sparse(edges):
        return of_matrix(edges, len(nodes))
    if (file := edge_file(edges)) is not None and ending(file) != SNAP:
        found: Any = pairs_of_file(file, nodes)
        return of_matrix(found, len(nodes)) if is_sparse(found) else of_pairs(found, nodes)
    # A CSV file declares no types: its ids are read from text, whatever else it holds.
    untyped = Source.of(edges).is_untyped

    def opened() -> Ends:
        import narwhals as nw

        if nw.from_native(edges, pass_through=True) is edges and values.is_listed(edges):
            return of_pairs(list(edges), nodes)
        if file is not None:
            return _of_table(lines_of_pairs(file), nodes, lambda _column: True)
        return _of_table(_opened(edges, source, target, nodes), nodes, untyped)

    return replaced(
        opened, lambda: DataError("the edges cannot be read: the file is damaged or no table")
    )


def read_of_persons(
    edges: Edges,
    source: str | None,
    target: str | None,
    nodes: Sequence[Hashable],
    cap: PeopleCap,
    on_invalid: OnInvalid,
) -> Ends:
    """Return the edges that are counted, as positions among ``nodes``.

    Raises:
        ParameterError: The edges are no table, or its columns are not named.
        ColumnError: A column is missing, or its type cannot hold such nodes or persons.
        DataError: The edges cannot be read.
        PublicClaimError: ``on_invalid`` is ``"raise"`` and a row is no edge.
    """
    if not tables.is_table(edges):
        raise ParameterError("`user` names a column: edges must be a table")
    columns = check_ends(source, target)
    cap.check(edges)
    rows = tables.read_columns(edges, numeric=[], plain=[*columns, cap.user])
    untyped = Source.of(edges).is_untyped
    ends = _of_table(_in_memory(rows.select(*columns)), nodes, untyped, folded=False)
    without_invalid(ends, on_invalid)
    there = (ends.source != UNKNOWN) & (ends.target != UNKNOWN) & (ends.source != ends.target)
    ranks = _ranks(nodes)
    low, high = np.sort(ranks[np.stack(ends)[:, there]], axis=0)
    users = values.names_of_series(rows.get_column(cap.user)).filter(there)
    counted = np.stack(cap.of_arrays(users, [low, high], distinct=True), axis=1)
    return of_array(np.argsort(ranks)[counted])


def is_sparse(data: object) -> bool:
    """Return whether data are a sparse matrix of SciPy, which are adjacencies by their type."""
    # Whoever holds one has imported its package: nothing is imported here.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(data)


def of_matrix(matrix: Any, n: int) -> Ends:  # noqa: ANN401 -- any sparse class of SciPy
    """Return the ends of all non-zero entries of an ``(n, n)`` sparse matrix.

    Raises:
        DataError: It is not sparse, or of another shape.
    """
    if not is_sparse(matrix) or matrix.shape != (n, n):
        raise DataError(
            "matrix must be a SciPy sparse array or matrix with a row and a column for each of "
            f"the {n} nodes"
        )
    return of_array(np.column_stack(matrix.nonzero()))


def check_ends(source: str | None, target: str | None) -> tuple[str, str]:
    """Return the columns of the two ends.

    Raises:
        ParameterError: They are not named, or are one.
    """
    if isinstance(source, str) and isinstance(target, str) and source != target:
        return source, target
    raise ParameterError("`source` and `target` must name the columns of the two ends")


def check_types(
    edges: Edges, source: str | None, target: str | None, nodes: Sequence[Hashable]
) -> None:
    """Check that a table in memory or a file names such nodes; no row is read.

    Raises:
        ParameterError, ColumnError, DataError: As for ``read``.
    """
    if is_sparse(edges) or edge_file(edges) is not None or not tables.is_table(edges):
        return
    import narwhals as nw

    ends = check_ends(source, target)
    two = tables.check_columns(edges, plain=ends).select(*ends)
    if isinstance(two, nw.DataFrame):
        typed = [column for column in ends if not declares_nothing(two.get_column(column))]
        types = _in_polars(two.select(*typed).head(0)).schema
    else:
        types = two.to_native().collect_schema()
    for column, dtype in types.items():
        _position(column, dtype, nodes, Source.of(edges).is_untyped)


def of_pairs(pairs: Iterable[Any], nodes: Sequence[Hashable]) -> Ends:
    """Return the ends of pairs of ids or labels, each read by itself as a field of text is.

    An end that is no label, and both ends of an entry that is no pair, are ``UNKNOWN``. A set
    of two is a pair, and so are the first two of a longer tuple, as networkx lists edges with
    their weights.
    """
    position = {label: index for index, label in enumerate(nodes) if label is not None}

    def of_end(end: object) -> int:
        return next((position[one] for one in _meanings(end) if one in position), UNKNOWN)

    flat = [(of_end(u), of_end(v)) for u, v in map(_two, pairs)]
    return of_array(np.array(flat, dtype=np.int32).reshape(-1, 2))


def _two(entry: object) -> tuple[object, object]:
    if isinstance(entry, tuple):
        return pair(entry[:2])
    return pair(tuple(entry) if isinstance(entry, AbstractSet) else entry)


def _meanings(end: object) -> Iterator[Hashable]:
    """Yield a value as it is, as text, and the integer that a float or a text writes."""
    plain = plain_value(end)
    yield plain
    text = coded(plain, "text")
    if not isinstance(text, str):
        return
    yield text
    if isinstance(plain, float):
        yield text.removesuffix(".0")
    elif WHOLE.fullmatch(text):
        with suppress(ValueError):  # of more digits than Python reads
            yield int(text)


def of_array(pairs: NDArray[np.integer]) -> Ends:
    """Return the ends of pairs of positions, shape ``(m, 2)``."""
    source, target = np.ascontiguousarray(pairs.T, dtype=np.int32)
    return Ends(source, target)


def without_invalid(ends: Ends, on_invalid: OnInvalid) -> Ends:
    """Return the records that are edges between two different nodes.

    Raises:
        PublicClaimError: ``on_invalid`` is ``"raise"`` and there are others.
    """
    known = (ends.source != UNKNOWN) & (ends.target != UNKNOWN)
    proper = ends.source != ends.target
    check_claim(on_invalid, loops=not (proper | ~known).all(), unknown=not known.all())
    valid = known & proper
    return Ends(ends.source[valid], ends.target[valid])


def check_claim(on_invalid: OnInvalid, *, loops: bool, unknown: bool) -> None:
    """Raise for records that are not edges, where the curator declared that there are none.

    Raises:
        ParameterError: ``on_invalid`` is neither ``"repair"`` nor ``"raise"``.
        PublicClaimError: It is ``"raise"`` and there are such records.
    """
    if validation.on_invalid(on_invalid) == "repair":
        return
    for found, complaint in (
        (unknown, "an edge names a node that is not among `nodes`, or none"),
        (loops, "an edge joins a node to itself"),
    ):
        if found:
            raise PublicClaimError(f"{complaint}; `on_invalid`='repair' leaves such edges out")


def rows(ends: Ends, n: int) -> tuple[Indices, NDArray[np.int32]]:
    """Return sorted rows of both directions, every edge once in each.

    Returns:
        Where the row of each node begins, shape ``(n + 1,)``, and the rows.
    """
    from scipy import sparse

    both = (
        np.concatenate([ends.source, ends.target]),
        np.concatenate([ends.target, ends.source]),
    )
    matrix = sparse.coo_array(
        (np.ones(both[0].size, dtype=np.bool_), both), shape=(n, n)
    ).tocsr()
    matrix.sort_indices()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)


def _opened(
    edges: Edges, source: str | None, target: str | None, nodes: Sequence[Hashable]
) -> pl.LazyFrame | Iterable[object]:
    """Return the two columns, unread where that is possible; pairs of untyped data."""
    needed("polars", extra="standard")
    import narwhals as nw
    import polars as pl

    if not tables.is_table(edges):
        pairs: NDArray[Any] = np.asarray(edges)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise DataError(
                "edges must be a file, a data frame, or pairs in an array of shape (m, 2); "
                f"{ADJACENCY}"
            )
        if len(nodes) == 2:
            raise DataError(
                "an array of two columns may be pairs or the adjacency of two nodes: give a "
                "list of pairs, or a sparse matrix of SciPy"
            )
        if pairs.dtype.kind == "O":
            return pairs
        # Two edges whose memory is by column would else be taken for two columns.
        return pl.from_numpy(pairs, schema=["source", "target"], orient="row").lazy()
    ends = check_ends(source, target)
    two = tables.check_columns(edges, plain=ends).select(*ends)
    if isinstance(two, nw.DataFrame):
        return _in_memory(two)
    native: object = two.to_native()
    if isinstance(native, pl.LazyFrame):
        return native
    # Another engine folds parallel edges before any row leaves it.
    engine = engine_of(two.unique())
    with engine.silenced():
        return _in_polars(engine.whole()).lazy()


def _in_memory(two: nw.DataFrame[Any]) -> pl.LazyFrame | Iterable[object]:
    """Return two columns of a table in memory; pairs of untyped data."""
    columns = [*two.iter_columns()]
    if any(map(declares_nothing, columns)):
        return zip(*(values.of_series(one).plain() for one in columns), strict=True)
    return _in_polars(two).lazy()


def _of_table(
    table: pl.LazyFrame | Iterable[object],
    nodes: Sequence[Hashable],
    untyped: Callable[[str], bool],
    *,
    folded: bool = True,
) -> Ends:
    """Return the ends of the rows of a table, or of pairs.

    Of a table parallel edges are folded while it is read, so that memory goes with what is
    left; or else rows keep their order.
    """
    needed("polars", extra="standard")
    import polars as pl

    if not isinstance(table, pl.LazyFrame):
        return of_pairs(table, nodes)
    first, second = (
        _position(column, dtype, nodes, untyped)
        for column, dtype in table.collect_schema().items()
    )
    if folded:
        first, second = pl.min_horizontal(first, second), pl.max_horizontal(first, second)
    both = table.select(first=first, second=second)
    ends = both.unique().collect(engine="streaming") if folded else both.collect()
    return Ends(ends["first"].to_numpy(), ends["second"].to_numpy())


def _position(
    column: str, dtype: pl.DataType, nodes: Sequence[Hashable], untyped: Callable[[str], bool]
) -> pl.Expr:
    """Return which of ``nodes`` the values of a column name, or ``UNKNOWN``."""
    needed("polars", extra="standard")
    import polars as pl

    labels = _labels(nodes)
    value, text = pl.col(column), untyped(column)
    if labels.dtype == pl.Int128 and (dtype.is_integer() or text):
        value = (value.str.strip_chars() if text else value).cast(pl.Int128, strict=False)
        value, labels = value.cast(pl.String), labels.cast(pl.String)
    elif labels.dtype.is_integer() and (dtype.is_integer() or text):
        value = (value.str.strip_chars() if text else value).cast(labels.dtype, strict=False)
    elif labels.dtype == pl.String and dtype in (pl.String, pl.Categorical, pl.Enum):
        value = value.cast(pl.String)
    elif labels.dtype != dtype:
        wanted = (
            "integers" if labels.dtype.is_integer() else f"of type {type_name(labels.dtype)}"
        )
        raise not_of_nodes(column, dtype, wanted)
    if isinstance(nodes, range):
        known = value.is_between(0, len(nodes) - 1)
        return pl.when(known).then(value).otherwise(UNKNOWN).cast(pl.Int32)
    positions = pl.Series(range(len(nodes)), dtype=pl.Int32)
    return value.replace_strict(labels, positions, default=UNKNOWN, return_dtype=pl.Int32)


def _labels(nodes: Sequence[Hashable]) -> pl.Series:
    """Return the nodes as a column of the narrowest type of integers, or of their own type."""
    needed("polars", extra="standard")
    import polars as pl

    if isinstance(nodes, range):
        return pl.Series(nodes, dtype=pl.Int64)
    whole = [node for node in nodes if type(node) is int]
    if len(whole) < len(nodes):
        # Of several types there is no column.
        return replaced(
            lambda: pl.Series(nodes),
            lambda: ParameterError("`nodes` of a table must be of one type, as its columns"),
        )
    low, high = min(whole), max(whole)
    if not -(2**127) <= low <= high < 2**127:
        raise ParameterError("`nodes`: ids in a table are integers of at most 128 bits")
    signed = pl.Int64 if low >= -(2**63) and high < 2**63 else pl.Int128
    return pl.Series(whole, dtype=pl.UInt64 if low >= 0 and 2**63 <= high < 2**64 else signed)


def not_of_nodes(column: str, kind: object, wanted: str) -> ColumnError:
    """Return the error of a column whose type cannot hold the nodes."""
    return ColumnError(
        f"column {column!r} must name nodes, which are {wanted}; it is of type "
        f"{type_name(kind)}"
    )


def _ranks(nodes: Sequence[Hashable]) -> Indices:
    """Return the place of each node in the order that an engine has them."""
    if isinstance(nodes, range):
        return np.arange(len(nodes))

    def key(place: int) -> tuple[str, Any]:
        return type(nodes[place]).__name__, nodes[place]

    ranks = np.empty(len(nodes), dtype=np.int64)
    ranks[sorted(range(len(nodes)), key=key)] = np.arange(len(nodes))
    return ranks


def _in_polars(rows: nw.DataFrame[Any]) -> pl.DataFrame:
    """Return rows as a frame of polars, which has no complex numbers, for one.

    Raises:
        ColumnError: A column is of a type that it does not have.
    """
    return replaced(
        rows.to_polars,
        lambda: ColumnError("the ends must name nodes, which are integers or text"),
    )


def edge_file(edges: object) -> Path | None:
    """Return the path of a file of edges that is no table; None of anything else.

    A ``.txt`` file is one unless it is stated how the table in it is written.

    Raises:
        DataError: There is no such file.
        ParameterError: Rows are to be selected, or it is stated how text is written.
    """
    source = Source.of(edges)
    kinds = {*READERS} if source.stated_rows else {*READERS, SNAP}
    cure = "write the edges as a table"
    return source.whole_file(lambda path: ending(path) in kinds, cure=cure)


def lines_of_pairs(path: Path) -> pl.LazyFrame:
    """Return the first two fields of each line that is no comment; none is read.

    Fields are apart by blanks, tabs, commas or semicolons. A header is a pair as others are,
    of ends that are no nodes.
    """
    needed("polars", extra="standard")
    import polars as pl

    ends = pl.col("line").str.strip_chars().str.extract_groups(ENDS).struct
    lines = TextFiles([path], LINE, ".txt").scan()
    return lines.select(source=ends.field("1"), target=ends.field("2"))


def pairs_of_file(path: Path, nodes: Sequence[Hashable]) -> object:
    """Return the edges of a file of a graph, as pairs or as a matrix.

    Raises:
        DataError: It is not complete, or not of its format.
        MissingDependencyError: networkx is not installed.
    """
    kind = ending(path)
    read = READERS[kind]
    needed("networkx", extra="formats")
    try:
        return read(path, nodes)
    except Exception:  # noqa: BLE001 -- readers quote what they could not read
        refusal = DataError(f"{path} cannot be read: it must be a complete {NAMES[kind]} file")
    raise refusal


def _graphml(path: Path, nodes: Sequence[Hashable]) -> Iterable[tuple[object, ...]]:
    del nodes
    pairs: Iterable[tuple[object, ...]] = (
        _networkx().read_graphml(path, force_multigraph=True).edges()
    )
    return pairs


def _gml(path: Path, nodes: Sequence[Hashable]) -> Iterable[tuple[object, ...]]:
    # Without this a parallel edge would refuse the file.
    text = re.sub(r"\bmultigraph\s+[01]\b", "", _text(path))
    text = re.sub(r"\bgraph\s*\[", "graph [\nmultigraph 1\n", text, count=1)
    label = "id" if isinstance(nodes, range) else "label"
    pairs: Iterable[tuple[object, ...]] = _networkx().parse_gml(text, label=label).edges()
    return pairs


def _pajek(path: Path, nodes: Sequence[Hashable]) -> Iterable[tuple[object, ...]]:
    graph = _networkx().parse_pajek(_text(path))
    if not isinstance(nodes, range):
        edges: Iterable[tuple[object, ...]] = graph.edges()
        return edges
    place = {label: int(held.get("id", 0)) - 1 for label, held in graph.nodes(data=True)}
    return [(place[one], place[other]) for one, other in graph.edges()]


def _matrix(path: Path, nodes: Sequence[Hashable]) -> object:
    del nodes
    from scipy import sparse
    from scipy.io import mmread

    return sparse.coo_array(mmread(path))


def _networkx() -> Any:  # noqa: ANN401 -- it has no types
    return needed("networkx", extra="formats")


def _text(path: Path) -> str:
    held = path.read_bytes()
    return (gzip.decompress(held) if path.suffix == ".gz" else held).decode("utf-8-sig")


SNAP = ".txt"

READERS: dict[str, Callable[[Path, Sequence[Hashable]], object]] = {
    ".graphml": _graphml,
    ".gml": _gml,
    ".net": _pajek,
    ".mtx": _matrix,
}
"""Readers of files of graphs, by the ending of their names."""

NAMES = {".graphml": "GraphML", ".gml": "GML", ".net": "Pajek", ".mtx": "MatrixMarket"}
