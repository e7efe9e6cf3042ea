"""Edge lists from files, data frames, pairs and matrices, as positions of their two ends.

Files of networks that are no tables are edge lists of SNAP, GraphML, GML, Pajek and
MatrixMarket: directions and attributes are left out, as of every list of edges. Where nodes are
the ids 0 to n - 1, vertices of Pajek and rows of MatrixMarket, which count from 1, are one
less.

An end that is missing, or not among the public nodes, has the position ``UNKNOWN``, whatever
the other records hold: every value is looked up by itself.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import tables
from dpselect._optional import needed, pl
from dpselect.errors import DataError, ParameterError
from dpselect.networks import edge_queries
from dpselect.networks.edge_queries import FROM, EdgeRows, check_claim
from dpselect.passes import note, replaced
from dpselect.tables import values
from dpselect.tables.dialect import Dialect
from dpselect.tables.engine import engine_of
from dpselect.tables.kinds import Kind
from dpselect.tables.opening import unreadable
from dpselect.tables.people import changes
from dpselect.tables.source import Source, ending
from dpselect.tables.text import opened, scan_text
from dpselect.tables.values import pair, plain_value
from dpselect.typing import Indices, OnInvalid

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame
    from scipy.sparse import sparray, spmatrix

    SparseMatrix: TypeAlias = sparray | spmatrix

Edges: TypeAlias = "str | os.PathLike[str] | Source | IntoFrame | ArrayLike | SparseMatrix"
"""A file, a data frame that narwhals knows, pairs of shape ``(m, 2)``, or a sparse matrix."""

WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")

UNKNOWN = -1
"""The position of an end that is not among the nodes."""

LINE = Dialect(separator="\x01", quote="none", header=("line",), comment="#")
"""A text file of lines that are not cut."""

FIELD = re.compile(r'"([^"]*)"|(\S+)')
"""A field of a line of Pajek."""

ENDS = r'^("[^"]*"|[^\s,;]+)[\s,;]+("[^"]*"|[^\s,;]+)'
"""The first two fields of a line, of which R writes names in marks."""


class Ends(NamedTuple):
    """Two ends for each record, by position among the nodes or ``UNKNOWN``."""

    source: NDArray[np.integer]
    target: NDArray[np.integer]


def read(edges: Edges, rows: EdgeRows) -> Ends:
    """Read edges of any kind as positions among the nodes.

    Raises:
        ParameterError: Columns of a table are not named, or persons are of no table.
        ColumnError: A column is missing, or its type cannot hold such nodes or persons.
        DataError: The edges cannot be read, or are not pairs.
        PublicClaimError: ``on_invalid`` is ``"raise"`` and a record is no edge.
    """
    if rows.cap is not None and (edge_file(edges) is not None or not tables.is_table(edges)):
        raise ParameterError("`user` names a column: edges must be a table")
    return replaced(
        lambda: _read(edges, rows),
        lambda: DataError("the edges cannot be read: the file is damaged or no table"),
    )


def _read(edges: Any, rows: EdgeRows) -> Ends:  # noqa: ANN401 -- edges of any kind
    found, file, nodes = edges, edge_file(edges), rows.nodes
    of_two = replace(rows, source="source", target="target")
    if file is not None and ending(file) in LISTS:
        found, rows = _lines_of_pairs(file, rows), of_two
    elif file is not None:
        found = pairs_of_file(file, nodes)
    elif isinstance(edges, np.ndarray) or not (tables.is_table(edges) or is_sparse(edges)):
        found, rows = edges if values.is_listed(edges) else _of_array(edges, nodes), of_two
    if tables.is_table(found):
        return _of_table(found, rows)
    if is_sparse(found):
        return without_invalid(of_matrix(found, len(nodes)), rows.on_invalid)
    if values.is_listed(edges):
        note(
            "a list of pairs, whose other entries are dropped (an adjacency is a sparse matrix "
            "of SciPy, as scipy.sparse.coo_array(rows))"
        )
    return without_invalid(of_pairs(found, nodes), rows.on_invalid)


def _of_table(table: object, rows: EdgeRows) -> Ends:
    """Return the edges of a table, between two different nodes each."""
    engine, nodes = engine_of(edge_queries.edges_of(table, rows)), rows.nodes
    both = engine.fetched(lambda: unreadable(table)).to_polars()
    if not isinstance(nodes, range):
        # Labels are of one type, and ids of 64 bits are signed or not as the column is.
        labels = pl.Series(nodes, dtype=both["low"].dtype, strict=False)
        places = pl.Series(range(len(nodes)), dtype=pl.Int32)
        both = both.select(pl.all().replace_strict(labels, places, return_dtype=pl.Int32))
    return Ends(*(one.to_numpy() for one in both))


def _of_array(edges: object, nodes: Sequence[Hashable]) -> object:
    """Return an array of pairs as a table, or as pairs where it declares no type."""
    pairs = values.as_array(edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise DataError(
            "edges must be a file, a data frame, a graph of networkx, or pairs in an array of "
            "shape (m, 2); an adjacency is a sparse matrix of SciPy, as "
            "scipy.sparse.coo_array(rows).astype(bool)"
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


def is_sparse(data: object) -> bool:
    """Return whether data are a sparse matrix of SciPy, which are adjacencies by their type."""
    # Whoever holds one has imported its package: nothing is imported here.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(data)


def of_matrix(matrix: Any, n: int) -> Ends:  # noqa: ANN401 -- any sparse class of SciPy
    """Return the ends of all non-zero entries of an ``(n, n)`` sparse matrix.

    A matrix of integers may count parallel edges, and one of real numbers holds weights.

    Raises:
        DataError: It is of another shape.
        ParameterError: It is of real numbers.
    """
    if matrix.shape != (n, n):
        raise DataError(f"matrix must have a row and a column for each of the {n} nodes")
    if matrix.dtype.kind in "fc":
        raise ParameterError(
            "a matrix of real numbers is refused: they are weights, and each edge counts once; "
            "if that is meant, give matrix.astype(bool), in a file of MatrixMarket by "
            "scipy.io.mmwrite(FILE, matrix.astype(bool), field='pattern')"
        )
    return Ends(*matrix.nonzero())


def check(edges: Edges, rows: EdgeRows) -> None:
    """Check that a table names such nodes; no row is read.

    Raises:
        ParameterError, ColumnError, DataError: As for ``read``.
    """
    if not is_sparse(edges) and edge_file(edges) is None and tables.is_table(edges):
        edge_queries.check_edges(edges, rows)


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
    return Ends(*np.array(flat, dtype=np.int32).reshape(-1, 2).T)


def _two(entry: object) -> tuple[object, object]:
    if isinstance(entry, tuple):
        return pair(entry[:2])
    return pair(tuple(entry) if isinstance(entry, AbstractSet) else entry)


def _meanings(end: object) -> Iterator[Hashable]:
    """Yield a value as it is, as text, and the integer that a float or a text writes."""
    plain = plain_value(end)
    yield plain
    text = Kind.TEXT.code(plain)
    if not isinstance(text, str):
        return
    yield text
    if isinstance(plain, float):
        yield text.removesuffix(".0")
    elif WHOLE.fullmatch(text):
        with suppress(ValueError):  # of more digits than Python reads
            yield int(text)


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


def rows(ends: Ends, n: int) -> tuple[Indices, NDArray[np.int32]]:
    """Return sorted rows of both directions, every edge once in each.

    Returns:
        Where the row of each node begins, shape ``(n + 1,)``, and the rows.
    """
    source, target = (end.astype(np.int64, copy=False) for end in ends)
    # Places in the matrix, below 2^62; where it is loaded polars sorts them in half the time.
    every = np.concatenate([source * n + target, target * n + source])
    places = pl.Series(every).sort().to_numpy() if "polars" in sys.modules else np.sort(every)
    places = places[changes(places)]
    nodes = places // n
    starts = np.concatenate([[0], np.bincount(nodes, minlength=n).cumsum()])
    places -= nodes * n
    return starts, places.astype(np.int32)


def edge_file(edges: object) -> Path | None:
    """Return the path of a file of edges that is no table; None of anything else.

    A list of pairs is one unless it is stated how the table in it is written.

    Raises:
        DataError: There is no such file.
        ParameterError: Rows are to be selected, or it is stated how text is written.
    """
    source = Source.of(edges)
    kinds = {*READERS} if source.stated_rows else {*READERS, *LISTS}
    cure = "write the edges as a table"
    return source.whole_file(lambda path: ending(path) in kinds, cure=cure)


def _lines_of_pairs(path: Path, rows: EdgeRows) -> pl.LazyFrame:
    """Return the first two fields of each line that is no comment; none is read.

    Fields are apart by blanks, tabs, commas or semicolons. A header is a pair as others are,
    of ends that are no nodes.
    """
    ends = pl.col("line").str.strip_chars().str.extract_groups(ENDS).struct
    with opened(path, LINE) as held:
        if held.peek(2).startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise DataError(f"`edges`: {path.name} is in UTF-16, and must be in UTF-8")
    pairs = scan_text([path], LINE)
    pairs = pairs.select(source=ends.field("1"), target=ends.field("2"))
    pairs = pairs.select(pl.all().str.strip_chars('"'))
    if rows.ids is None:
        return pairs
    # pandas writes ids among which one is missing as 1.0.
    whole = pairs.select(pl.all().str.strip_suffix(".0"))
    return whole.cast(pl.UInt64 if rows.ids[-1] >= FROM else pl.Int64, strict=False)


def pairs_of_file(path: Path, nodes: Sequence[Hashable]) -> object:
    """Return the edges of a file of a graph, as pairs or as a matrix.

    Raises:
        DataError: It is not complete, or not of its format.
        MissingDependencyError: networkx is not installed.
    """
    kind = ending(path)
    networkx: Any = needed("networkx", extra="formats")
    if kind in {".net", ".mtx"} and isinstance(nodes, range):
        note(f"a {NAMES[kind]} file, which counts from 1: its first node is the id 0")
    refusal = DataError(
        f"{path} cannot be read: it must be a complete {NAMES[kind]} file, in UTF-8"
    )
    return replaced(lambda: READERS[kind](networkx, path, nodes), lambda: refusal)


def _graphml(networkx: Any, path: Path, nodes: Sequence[Hashable]) -> object:  # noqa: ANN401
    graph = networkx.read_graphml(path, force_multigraph=True)
    if isinstance(nodes, range):
        return [[end.removeprefix("n") for end in ends[:2]] for ends in graph.edges]
    return _by_names(graph, nodes)


def _gml(networkx: Any, path: Path, nodes: Sequence[Hashable]) -> object:  # noqa: ANN401
    # Without this a parallel edge would refuse the file.
    text = re.sub(r"\bmultigraph\s+[01]\b", "", _text(path))
    text = re.sub(r"\bgraph\s*\[", "graph [\nmultigraph 1\n", text, count=1)
    graph = networkx.parse_gml(text, label="id")
    return graph.edges() if isinstance(nodes, range) else _by_names(graph, nodes)


def _by_names(graph: Any, nodes: Sequence[Hashable]) -> object:  # noqa: ANN401 -- of networkx
    """Return edges by the labels or names of their ends that are listed, else by their ids."""
    known, names = {*map(str, nodes)}, {}
    for one, held in graph.nodes(data=True):
        for name in (str(held.get(key)) for key in ("name", "label")):
            if name in known:
                names[one] = name
    # Ends without a listed name are left out: an edge may bring one that no node declares.
    if len({*names.values()}) < len(names):
        raise DataError("two nodes of the file have one name: give nodes by their ids")
    return [tuple(names.get(end, str(end)) for end in ends[:2]) for ends in graph.edges]


def _pajek(_: Any, path: Path, nodes: Sequence[Hashable]) -> object:  # noqa: ANN401
    # networkx reads the neighbours of a list, *Arcslist, as one edge and its weight.
    labels: dict[int, str] = {}
    pairs: list[tuple[int, int]] = []
    section = ""
    for line in _text(path).split("\n"):
        first, *others = ["".join(word) for word in FIELD.findall(line)] or ["%"]
        if first.startswith("*"):
            section = first.lower()
        elif first.startswith("%"):
            continue
        elif section == "*vertices":
            labels[int(first)] = others[0] if others else first
        elif section in {"*edges", "*arcs", "*edgeslist", "*arcslist"}:
            ends = others if section.endswith("list") else others[:1]
            pairs += [(int(first), int(one)) for one in ends]
        else:
            raise ValueError(section)
    if isinstance(nodes, range):
        return [(one - 1, other - 1) for one, other in pairs]
    return [tuple(labels.get(end, str(end)) for end in ends) for ends in pairs]


def _matrix(_: Any, path: Path, __: Sequence[Hashable]) -> object:  # noqa: ANN401
    from scipy import sparse
    from scipy.io import mminfo, mmread

    matrix = sparse.coo_array(mmread(path))
    # The numbers of a pattern, which are all 1, are floats.
    return matrix.astype(np.bool_) if mminfo(path)[4] == "pattern" else matrix


def _text(path: Path) -> str:
    held = path.read_bytes()
    return (gzip.decompress(held) if path.suffix == ".gz" else held).decode("utf-8-sig")


LISTS = {".txt", ".edgelist", ".edges", ".ncol"}
"""Endings of lists of pairs, as SNAP, networkx and igraph write them."""

READERS: dict[str, Callable[[Any, Path, Sequence[Hashable]], object]] = {
    ".graphml": _graphml,
    ".gml": _gml,
    ".net": _pajek,
    ".mtx": _matrix,
}
"""Readers of files of graphs by their endings: from networkx, a path, and the nodes."""

NAMES = {".graphml": "GraphML", ".gml": "GML", ".net": "Pajek", ".mtx": "MatrixMarket"}
