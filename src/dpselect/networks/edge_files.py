"""Files of networks that are no tables: edge lists of SNAP, GraphML, GML, Pajek, MatrixMarket.

Directions, weights and attributes are left out, as of every list of edges. Where nodes are the
ids 0 to n - 1, vertices of Pajek and rows of MatrixMarket, which count from 1, are one less.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dpselect._optional import needed
from dpselect.errors import DataError
from dpselect.tables.dialect import Dialect
from dpselect.tables.source import Source, ending
from dpselect.tables.text import TextFiles

if TYPE_CHECKING:
    import polars as pl

Nodes: TypeAlias = Sequence[Hashable]

LINE = Dialect(separator="\x01", quote="none", header=("line",), comment="#")
"""A text file of lines that are not cut."""

ENDS = r"^([^\s,;]+)[\s,;]+([^\s,;]+)"
"""The first two fields of a line."""


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


def pairs_of_file(path: Path, nodes: Nodes) -> object:
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


def _graphml(path: Path, nodes: Nodes) -> Iterable[tuple[object, ...]]:
    del nodes
    pairs: Iterable[tuple[object, ...]] = (
        _networkx().read_graphml(path, force_multigraph=True).edges()
    )
    return pairs


def _gml(path: Path, nodes: Nodes) -> Iterable[tuple[object, ...]]:
    # Without this a parallel edge would refuse the file.
    text = re.sub(r"\bmultigraph\s+[01]\b", "", _text(path))
    text = re.sub(r"\bgraph\s*\[", "graph [\nmultigraph 1\n", text, count=1)
    label = "id" if isinstance(nodes, range) else "label"
    pairs: Iterable[tuple[object, ...]] = _networkx().parse_gml(text, label=label).edges()
    return pairs


def _pajek(path: Path, nodes: Nodes) -> Iterable[tuple[object, ...]]:
    graph = _networkx().parse_pajek(_text(path))
    if not isinstance(nodes, range):
        edges: Iterable[tuple[object, ...]] = graph.edges()
        return edges
    place = {label: int(held.get("id", 0)) - 1 for label, held in graph.nodes(data=True)}
    return [(place[one], place[other]) for one, other in graph.edges()]


def _matrix(path: Path, nodes: Nodes) -> object:
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

READERS: dict[str, Callable[[Path, Nodes], object]] = {
    ".graphml": _graphml,
    ".gml": _gml,
    ".net": _pajek,
    ".mtx": _matrix,
}
"""Readers of files of graphs, by the ending of their names."""

NAMES = {".graphml": "GraphML", ".gml": "GML", ".net": "Pajek", ".mtx": "MatrixMarket"}
