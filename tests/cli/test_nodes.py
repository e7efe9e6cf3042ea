"""The command that releases nodes of a network."""

import polars as pl
import pytest

LISTS = {"a file": "7 \r\n12\r\n\r\n300\r\n5", "typed": "7, 12,300,5"}


@pytest.mark.parametrize("listed", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt8, pl.String])
@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb"])
def test_nodes_are_listed_as_their_column_holds_them(run, tmp_path, listed, kind, engine):
    path, nodes = tmp_path / "edges.parquet", tmp_path / "ids.txt"
    ends = {"source": [7, 7, 7], "target": [12, 44 if kind is pl.UInt8 else 300, 5]}
    pl.DataFrame(ends).cast(kind).write_parquet(path)
    nodes.write_text(listed, encoding="utf-8-sig", newline="")
    named = nodes if "\n" in listed else listed

    ran = run("nodes", path, "--nodes", named, *DEGREE, "--engine", engine, "--json")
    assert ran.json["answer"] == ["7" if kind is pl.String else 7]
    assert ran.json["nodes"] == "the 4 listed nodes (edges to others dropped, weights ignored)"


DEGREE = ("--k", 1, "--metric", "degree", "--epsilon", 500)
