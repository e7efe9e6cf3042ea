"""Counts on PySpark beside what one would write by hand, pyspark.ml and polars.

Run: ``python benchmarks/spark.py FOLDER ADULT [--tasks ...] [--rows 1e6] [--edges 1e6]
[--repeats 2] [--master local[2]]``. ADULT is the Parquet file of the Adult data, repeated up to
the number of rows. Both sides of a ratio run in one session, in turns, and the least time of
each counts: by the clock, and of all processors together, which says more where others use the
machine. A tree has the depth that is the default and splits on fourteen columns.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import dpselect as dp
from dpselect import tables
from dpselect.maps.box import Box
from dpselect.maps.engine import EngineCounts, located
from dpselect.maps.partition import uniform_grid
from dpselect.networks import EdgeTable
from dpselect.percentiles.ranks import ranks_in_engine
from dpselect.trees import Bins, ID3Classifier
from dpselect.trees.engine import count_tables
from dpselect.trees.tree import Split
from scale import processors, write_edges, write_records

Run: TypeAlias = Callable[[], object]

LABEL = "income"
CODES = {f"code{j}": 4 for j in range(4)}
EDGES = np.linspace(0, 60, 101)
GRID = 128
GRAPHS = ("uniform", "power", "hubs")


def adult(path: Path, rows: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return Adult repeated up to a number of rows, and its domains."""
    frame = pl.read_parquet(path).drop("split", strict=False)
    frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
    domains: dict[str, Any] = {}
    for name, kind in frame.drop(LABEL).schema.items():
        if kind == pl.String:
            domains[name] = sorted(frame[name].unique().to_list())
        else:
            low, high = frame.select(low=pl.min(name), high=pl.max(name)).row(0)
            domains[name] = Bins(low, high, bins=8)
    times = -(-rows // len(frame))
    return pl.concat([frame] * times).head(rows), domains


def trees(session: Any, asked: argparse.Namespace) -> tuple[Run, Run]:  # noqa: ANN401
    """Train a tree of depth 5 on Adult: ours, and by pyspark.ml with its indexing."""
    frame, domains = adult(asked.adult, asked.rows)
    path = asked.folder / f"adult-{asked.rows}.parquet"
    if not path.exists():
        frame.write_parquet(path, row_group_size=250_000)
    classes = sorted(frame[LABEL].unique().to_list())
    text = [name for name, domain in domains.items() if isinstance(domain, list)]
    numbers = [name for name in domains if name not in text]
    table = session.read.parquet(str(path))

    def ours() -> object:
        classifier = ID3Classifier(
            10.0, max_depth=5, domains=domains, classes=classes, max_records=2 * asked.rows
        )
        return classifier.fit(table, LABEL).tree_

    def theirs() -> object:
        from pyspark.ml import Pipeline
        from pyspark.ml.classification import DecisionTreeClassifier
        from pyspark.ml.feature import StringIndexer, VectorAssembler

        indexed = [f"{name}_" for name in [*text, LABEL]]
        stages: list[Any] = [
            StringIndexer(inputCols=[*text, LABEL], outputCols=indexed),
            VectorAssembler(inputCols=[*numbers, *indexed[:-1]], outputCol="features"),
            DecisionTreeClassifier(labelCol=indexed[-1], maxDepth=5, maxBins=64),
        ]
        return Pipeline(stages=stages).fit(table)

    return ours, theirs


def degrees(session: Any, asked: argparse.Namespace) -> tuple[Run, Run]:  # noqa: ANN401
    """Count the neighbours of every node: ours, and by a query of one's own."""
    from pyspark.sql import functions as f

    nodes = asked.edges // 10
    table = session.read.parquet(str(edges_of(asked)))

    def ours() -> object:
        return EdgeTable(table, nodes=nodes, source="source", target="target").degrees.sum()

    def theirs() -> object:
        ends = f.col("source"), f.col("target")
        simple = (
            table.where(ends[0] != ends[1])
            .select(f.least(*ends).alias("low"), f.greatest(*ends).alias("high"))
            .distinct()
        )
        both = simple.select(f.explode(f.array("low", "high")).alias("node"))
        counted = both.groupBy("node").count()
        found = counted.toArrow()
        return np.bincount(found["node"].to_numpy(), found["count"].to_numpy(), nodes).sum()

    return ours, theirs


def draws(_: Any, asked: argparse.Namespace) -> tuple[Run, Run]:  # noqa: ANN401
    """Draw 20 of the nodes by degree: by the default, and by permute-and-flip."""
    ends = pl.scan_parquet(edges_of(asked))
    n = asked.edges // 10
    graph = EdgeTable(ends, nodes=n, source="source", target="target")
    top = dp.TopNodes(nodes=n, k=20, metric="degree", epsilon=1.0)
    top.release(graph)  # the degrees are counted once
    rounds = replace(top, mechanism="permute-and-flip")
    return partial(top.release, graph), partial(rounds.release, graph)


def edges_of(asked: argparse.Namespace) -> Path:
    """Return the file of a random graph, written if there is none."""
    path: Path = asked.folder / f"edges-{asked.edges}.parquet"
    if not path.exists():
        write_edges(path, asked.edges)
    return path


def triangles(session: Any, asked: argparse.Namespace, kind: str) -> tuple[Run, Run]:  # noqa: ANN401
    """Count the triangles of a graph: on Spark, and by the same query on polars."""
    path = asked.folder / f"{kind}-{asked.edges}.parquet"
    nodes = asked.edges // 10
    if not path.exists():
        write_graph(path, kind, asked.edges, nodes)

    def counted(table: object) -> int:
        graph = EdgeTable(table, nodes=nodes, source="source", target="target")
        return int(graph.triangles().sum())

    table = session.read.parquet(str(path))
    return lambda: counted(table), lambda: counted(pl.scan_parquet(path))


def write_graph(path: Path, kind: str, edges: int, nodes: int) -> None:
    """Write a graph: uniform, of degrees that follow a power law, or with five hubs.

    Each hub is an end of one edge to every node, so that they are half of the ends.
    """
    rng = np.random.default_rng(5)
    ends = rng.integers(0, nodes, (2, edges))
    if kind == "power":
        weights = np.arange(1, nodes + 1) ** (-1 / 1.2)
        ends = rng.permutation(nodes)[rng.choice(nodes, (2, edges), p=weights / weights.sum())]
    elif kind == "hubs":
        ends[:, : 5 * nodes] = np.repeat(np.arange(5), nodes), np.tile(np.arange(nodes), 5)
    pl.DataFrame({"source": ends[0], "target": ends[1]}).write_parquet(path)


def records(session: Any, asked: argparse.Namespace) -> Any:  # noqa: ANN401
    """Return a table of numbers, points and codes."""
    path = asked.folder / f"records-{asked.rows}.parquet"
    if not path.exists():
        write_records(path, asked.rows)
    return session.read.parquet(str(path))


def ranks(session: Any, asked: argparse.Namespace) -> tuple[Run, Run]:  # noqa: ANN401
    """Count the ranks of 101 candidates: ours, and by Bucketizer."""
    table = records(session, asked)

    def theirs() -> object:
        from pyspark.ml.feature import Bucketizer

        splits = [-np.inf, *EDGES.tolist(), np.inf]
        bucket = Bucketizer(splits=splits, inputCol="days", outputCol="bucket")
        return bucket.transform(table).groupBy("bucket").count().collect()

    return lambda: ranks_in_engine(table, "days", EDGES), theirs


def cells(session: Any, asked: argparse.Namespace) -> tuple[Run, Run]:  # noqa: ANN401
    """Count points in 128 x 128 cells: ours, and by a query of one's own."""
    from pyspark.sql import functions as f

    table = records(session, asked)

    def ours() -> object:
        box = Box(0, 0, 1, 1)
        points = located(tables.open_table(table), x="x", y="y", box=box, outside="drop")
        return EngineCounts(points, box).in_cells(uniform_grid(GRID))

    def theirs() -> object:
        inside = table.where("x >= 0 AND x < 1 AND y >= 0 AND y < 1")
        squares = (f.floor(f.col(axis) * GRID).alias(axis) for axis in ("x", "y"))
        return inside.select(*squares).groupBy("x", "y").count().collect()

    return ours, theirs


def contingency(session: Any, asked: argparse.Namespace) -> tuple[Run, Run]:  # noqa: ANN401
    """Count the tables of 4 columns at 4 leaves: ours, and by a query of one's own."""
    from pyspark.sql import functions as f

    table = records(session, asked)
    splits = Split(0, (0, 1, 2, 3), (0, 1, 2, 3))

    def theirs() -> object:
        sums = [
            f.sum((f.col(name) == code).cast("int"))
            for name, size in CODES.items()
            for code in range(size)
        ]
        return table.groupBy("code0", "label").agg(*sums).collect()

    return lambda: count_tables(table, CODES, "label", 2, splits, 4), theirs


TASKS: dict[str, Callable[..., tuple[Run, Run]]] = {
    task.__name__: task for task in (trees, degrees, draws, ranks, cells, contingency)
}
TASKS |= {f"triangles-{kind}": partial(triangles, kind=kind) for kind in GRAPHS}


def session_of(master: str, memory: str) -> Any:  # noqa: ANN401
    """Start Spark and let it run once."""
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
        "spark.driver.maxResultSize": "0",
        "spark.sql.shuffle.partitions": "8",
    }
    session = SparkSession.builder.master(master).config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.range(1000).groupBy("id").count().collect()
    return session


def seconds(run: Run) -> tuple[float, float]:
    """Return the seconds of the clock that a run takes, and those of all processors."""
    start, busy = perf_counter(), processors()
    run()
    return perf_counter() - start, processors() - busy


def main() -> None:
    """Print one row a task, and the rows as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("adult", type=Path)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--rows", default=1_000_000, type=lambda text: int(float(text)))
    parser.add_argument("--edges", default=1_000_000, type=lambda text: int(float(text)))
    parser.add_argument("--repeats", default=2, type=int)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="2g")
    asked = parser.parse_args()
    session = session_of(asked.master, asked.memory)
    columns = ("task", "size", "ours, s", "by hand, s", "ratio", "ratio of processors")
    table = Table(*columns, title=asked.master)
    for name in asked.tasks.split(","):
        ours, theirs = TASKS[name](session, asked)
        runs = [(*seconds(theirs), *seconds(ours)) for _ in range(asked.repeats)]
        hand, busy, own, ours_busy = (min(column) for column in zip(*runs, strict=True))
        size = asked.edges if name.startswith(("degrees", "draws", "triangles")) else asked.rows
        print(json.dumps({"task": name, "size": size, "runs": runs}), flush=True)
        ratios = f"{own / hand:.2f}", f"{ours_busy / busy:.2f}"
        table.add_row(name, f"{size:.0e}", f"{own:.1f}", f"{hand:.1f}", *ratios)
    Console(width=80).print(table)


if __name__ == "__main__":
    main()
