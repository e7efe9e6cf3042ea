"""Edges from all that holds a network: files, matrices, lists with weights, ids of 64 bits."""

import gzip
from functools import partial

import networkx as nx
import polars as pl
import pytest
from scipy import sparse
from scipy.io import mmwrite

import dpselect as dp
from dpselect.errors import DataError
from dpselect.networks import Graph
from dpselect.tables import Source
from support.engines import held_by
from support.refusals import refused

STAR = nx.star_graph(5)
NAMES = [f"n{node}" for node in STAR]
NAMED = nx.relabel_nodes(STAR, dict(enumerate(NAMES)))
DEGREES = [5, 1, 1, 1, 1, 1]
MATRIX = nx.to_scipy_sparse_array(STAR)
PAIRS = "".join(f"0\t{leaf}\n" for leaf in range(1, 6))
SNAP = {
    "comments": f"# Directed graph\n# FromNodeId\tToNodeId\n{PAIRS}",
    "a header": f"source\ttarget\n{PAIRS}",
    "blanks and weights": "".join(f" 0 {leaf}  0.5 \r\n" for leaf in range(1, 6)),
    "both directions": PAIRS + "".join(f"{leaf}\t0\n" for leaf in range(1, 6)),
    "marks": "".join(f'"0" "{leaf}.0" 1\n' for leaf in range(1, 6)),
    "bad lines": f"0\n\n0\t9\n0\t-1\nx y z\n{PAIRS}0 0\n",
}


def degrees(edges, nodes=6):
    return Graph.from_edges(edges, nodes=nodes).degrees.tolist()


def file_of(folder, name):
    """Write the star in the format of a name, with nodes 0 to 5 or n0 to n5."""
    path = folder / name
    graph = NAMED if name.startswith("n") else STAR
    if path.suffix == ".mtx":
        mmwrite(path, MATRIX)
    else:
        ending = {".net": "pajek"}.get(path.suffix, path.suffix[1:])
        getattr(nx, f"write_{ending}")(graph, path)
    return path


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".net", ".mtx", ".edgelist"])
def test_files_of_graphs_are_read_by_ids_and_by_labels(tmp_path, ending):
    named, numbered = file_of(tmp_path, f"n{ending}"), file_of(tmp_path, f"a{ending}")

    assert degrees(numbered) == degrees(str(numbered)) == DEGREES
    assert degrees(named, NAMES) == DEGREES
    if ending in {".gml", ".net"}:
        # Ids of GML are beside its labels, and vertices of Pajek are numbered.
        assert degrees(named) == DEGREES
    if ending != ".mtx":
        assert degrees(named, [*NAMES[:3], "else"]) == [2, 1, 1, 0]


def test_graphml_has_names_beside_ids(tmp_path):
    """igraph writes n0, n1 and so on, and names as attributes."""
    path, names = tmp_path / "a.graphml", [one.upper() for one in NAMES]
    for attribute in ("name", "label"):
        graph = NAMED.copy()
        nx.set_node_attributes(graph, dict(zip(NAMES, names, strict=True)), attribute)
        nx.write_graphml(graph, path)

        assert degrees(path) == degrees(path, NAMES) == degrees(path, names) == DEGREES

    # An edge whose end is no node of the file refuses nothing, whatever its end is called.
    edge = '<edge source="n0" target="N1"/></graph>'
    path.write_text(path.read_text("utf-8").replace("</graph>", edge), "utf-8")
    assert degrees(path, names) == DEGREES


PAJEK = {
    "lists": '*Vertices 3\r\n% none\r\n1 "O\'Neill" 0.1 0.2\r\n\r\n*Arcslist\r\n1 2 3\r\n',
    "no labels": '*Network x\n*Vertices 3\n*EDGES\n1 2 7.5\n*Arcs :2 "likes"\n3 1\n',
}


@pytest.mark.parametrize("text", PAJEK.values(), ids=PAJEK)
def test_vertices_of_pajek_need_no_labels_and_have_lists_of_neighbours(tmp_path, text):
    path = tmp_path / "edges.net"
    path.write_text(text, encoding="utf-8", newline="")

    assert degrees(path, 3) == [2, 1, 1]
    first = "O'Neill" if "O'Neill" in text else "1"
    assert degrees(path, [first, "2", "3"]) == [2, 1, 1]


@pytest.mark.parametrize(
    ("field", "weighted"), [("pattern", False), ("integer", False), ("real", True)]
)
def test_a_matrix_file_is_refused_if_it_declares_real_numbers(tmp_path, field, weighted):
    path = tmp_path / "edges.mtx"
    mmwrite(path, MATRIX, field=field)

    if not weighted:
        assert degrees(path) == DEGREES
        return
    with refused():
        degrees(path)


@pytest.mark.parametrize("text", SNAP.values(), ids=SNAP)
def test_a_text_file_of_pairs_is_read_line_by_line(tmp_path, text):
    path, packed = tmp_path / "edges.txt", tmp_path / "edges.txt.gz"
    path.write_text(text, encoding="utf-8", newline="")
    packed.write_bytes(gzip.compress(text.encode()))

    assert degrees(path) == degrees(packed) == DEGREES
    ids = [2**64 - 1, *range(6)]
    assert degrees(path, ids) == [0, *DEGREES]
    path.write_text(text, encoding="utf-16")
    with refused("edges", error=DataError):
        degrees(path)


def test_parallel_and_directed_edges_of_a_file_are_one_edge(tmp_path):
    path = tmp_path / "edges.gml"
    nodes = "".join(f'node [ id {k} label "Zö{k}" ]\n' for k in range(3))
    edges = "edge [ source 0 target 1 ] edge [ source 1 target 0 ] edge [ source 0 target 1 ]"
    path.write_text(f"graph [ directed 1 {nodes} {edges} ]", encoding="utf-8")

    assert degrees(path, 3) == degrees(path, ["Zö0", "Zö1", "Zö2"]) == [1, 1, 0]
    assert degrees(path, [2, 1, 0, 7]) == [0, 1, 1, 0]
    path.write_text(path.read_text("utf-8").replace("Zö1", "Zö0"), "utf-8")
    with refused(error=DataError):
        degrees(path, ["Zö0", "Zö2"])


@pytest.mark.parametrize("ending", ["graphml", "gml", "net", "mtx"])
def test_a_damaged_file_is_refused_without_a_word_of_it(tmp_path, ending):
    path = tmp_path / f"edges.{ending}"
    path.write_text("*Vertices x\ngraph [ Smith", encoding="utf-8")
    query = dp.TopNodes(nodes=3, k=1, metric="degree", epsilon=1.0)

    with pytest.raises(DataError) as caught:
        query.release(path)
    assert "Smith" not in str(caught.value)
    with pytest.raises(DataError):
        query.check(tmp_path / f"other.{ending}")
    with refused("where"):
        query.check(Source(path, where="a = 1"))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "bsr", "dia", "dok"])
@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.coo_matrix])
def test_a_sparse_matrix_is_an_adjacency(form, kind):
    matrix = kind(MATRIX).asformat(form)
    query = dp.TopNodes(nodes=6, k=1, metric="degree", epsilon=500.0)

    assert degrees(matrix) == DEGREES
    assert query.release(matrix).answer == (0,)
    with pytest.raises(DataError):
        degrees(matrix, 7)


def test_longer_tuples_and_sets_of_two_are_pairs():
    weighted = STAR.copy()
    nx.set_edge_attributes(weighted, 1.5, "weight")

    for edges in (
        list(weighted.edges(data="weight")),
        list(weighted.edges(data=True)),
        weighted.edges(data=True),
        list(nx.MultiGraph(weighted).edges(keys=True)),
        [{0, leaf} for leaf in range(1, 6)],
        [frozenset({0, leaf}) for leaf in range(1, 6)],
        [[0, leaf] for leaf in range(1, 6)],
    ):
        assert degrees(edges) == DEGREES
    # What is no pair is no edge, and decides nothing about others.
    for odd in ([0, 1, 2], (0,), {0}, {0, 1, 2}, "01", None, ()):
        assert degrees([*STAR.edges, odd]) == DEGREES


HASHES = [2**63 + 1, 2**64 - 1, 2**63 + 9, 5]
OF_HASHES = pl.DataFrame(
    {"source": HASHES[:1] * 4, "target": [*HASHES[1:], 7]},
    schema={"source": pl.UInt64, "target": pl.UInt64},
)
TOP = {"k": 1, "metric": "degree", "epsilon": 500.0}


@pytest.mark.parametrize("nodes", [HASHES, [-3, *HASHES]])
@pytest.mark.parametrize(
    "hold",
    [
        pl.DataFrame.clone,
        pl.DataFrame.to_pandas,
        lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
        pl.DataFrame.to_arrow,
        pl.DataFrame.to_numpy,
        pl.DataFrame.rows,
        pl.DataFrame.lazy,
        partial(held_by, "duckdb"),
    ],
)
def test_ids_of_64_bits_without_a_sign_are_nodes(nodes, hold):
    assert dp.TopNodes(nodes=nodes, **TOP).release(hold(OF_HASHES)).answer == (HASHES[0],)


def test_ids_of_more_than_64_bits_are_in_no_table():
    with refused("nodes"):
        dp.TopNodes(nodes=[2**64, 1], **TOP).release(OF_HASHES)


def test_a_list_says_that_it_is_one_of_pairs_whatever_it_holds():
    """A row that is no pair, as all of an adjacency are, decides nothing."""
    shown = [
        str(dp.TopNodes(nodes=3, k=1, metric="degree", epsilon=900.0).release(edges))
        for edges in ([(0, 1)], [[0, 1, 1], [1, 0, 0], [1, 0, 0]], [])
    ]
    assert all("a list of pairs, whose other entries are dropped" in one for one in shown)
