"""The page of benchmarks: one table for each task, from stored results.

``make docs`` writes the tables into ``docs/accuracy.md``, between its marks. Every number is a
median over the data sets of a task, so that no one of them decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "accuracy.md"
RESULTS = ROOT / "benchmarks" / "results"
EPSILONS = (0.1, 0.5, 1.0, 2.0)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One table.

    Attributes:
        rows: Returns its long form: columns ``method``, ``epsilon`` and ``value``.
        methods: The methods that are shown, and what they are called.
        epsilons: Those that are shown.
        digits: Decimals of a number.
    """

    rows: Callable[[], pl.DataFrame]
    methods: dict[str, str]
    epsilons: tuple[float, ...] = EPSILONS
    digits: int = 2

    def table(self) -> str:
        """Return the table as Markdown."""
        medians = self.rows().group_by("method", "epsilon").agg(pl.col("value").median())
        of = {(m, e): v for m, e, v in medians.select("method", "epsilon", "value").rows()}
        head = ["", *(f"ε = {epsilon:g}" for epsilon in self.epsilons)]
        lines = [head, ["---", *(["---:"] * len(self.epsilons))]]
        for method, shown in self.methods.items():
            cells = [of.get((method, epsilon)) for epsilon in self.epsilons]
            lines.append(
                [shown, *("" if one is None else f"{one:.{self.digits}f}" for one in cells)]
            )
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percentiles() -> pl.DataFrame:
    """Return errors in units of those of the default, by histogram and percentile."""
    errors = pl.read_csv(RESULTS / "percentiles_one.csv")
    cell = ["data", "p", "epsilon"]
    ours = errors.filter(method="chosen").select(*cell, ours="error")
    ratio = (pl.col("error") / pl.col("ours")).alias("value")
    return errors.join(ours, on=cell).with_columns(ratio)


def keys() -> pl.DataFrame:
    """Return the recall of the ten most common keys."""
    return pl.read_csv(RESULTS / "keys_recall.csv").with_columns(value="recall")


def counts() -> pl.DataFrame:
    """Return the recall of the k candidates of the largest counts."""
    return (
        pl.read_csv(RESULTS / "topk.csv").filter(pl.col("k") > 1).with_columns(value="recall")
    )


def hubs() -> pl.DataFrame:
    """Return the recall of ten nodes of highest ego betweenness."""
    stored = pl.read_csv(RESULTS / "hubs.csv")
    return stored.unpivot(["hubs", "degree"], index="epsilon", variable_name="method")


def trees() -> pl.DataFrame:
    """Return accuracies of the default, of trees of depth 5, and of sums of trees."""
    ours = pl.read_csv(RESULTS / "trees_mechanisms.csv").rename({"mechanism": "method"})
    peers = pl.read_csv(RESULTS / "trees_peers.csv")
    default = pl.read_csv(RESULTS / "trees_default.csv").filter(pl.col("data") != "cancer")
    chosen = default.with_columns(pl.col("mechanism").alias("method"), depth=None)
    every = (chosen, ours, peers)
    parts = [
        one.select("method", pl.col("depth").cast(pl.Int64), "epsilon", "accuracy")
        for one in every
    ]
    deep = pl.concat(parts).filter(pl.col("depth").is_null() | (pl.col("depth") == 5))
    return deep.with_columns(value="accuracy")


def maps() -> pl.DataFrame:
    """Return median relative errors of queries of a percent of the area."""
    stored = pl.read_parquet(
        ROOT / "docs" / "results" / "fanaeepour-2017" / "figure-10.parquet"
    )
    smallest = stored.filter(pl.col("area") == pl.col("area").min())
    return smallest.with_columns(value=pl.col("error") * 100)


def searches() -> pl.DataFrame:
    """Return accuracies of the parameters that were found."""
    stored = [pl.read_csv(RESULTS / f"tuning_{name}.csv") for name in ("nltcs", "acs", "adult")]
    mean = (
        pl.concat(stored)
        .group_by("data", "epsilon", "way")
        .agg(value=pl.col("accuracy").mean())
    )
    return mean.rename({"way": "method"})


TASKS = {
    "percentiles": Task(
        rows=percentiles,
        methods={
            "chosen": "**dpselect**, default",
            "OpenDP": "OpenDP's score",
            "diffprivlib": "diffprivlib's quantile",
            "AboveThreshold, 1 %": "AboveThreshold on a grid of 1 %",
        },
    ),
    "keys": Task(
        rows=keys,
        methods={
            "public candidates": "**dpselect**, public candidates",
            'keys, "laplace"': "**dpselect**, noisy counts of unknown keys",
            "OpenDP's threshold": "OpenDP's stable histogram with a threshold",
        },
        epsilons=(0.03, 0.1, 0.3, 1.0, 3.0),
    ),
    "counts": Task(
        rows=counts,
        methods={
            "sequence": "**dpselect**, one noisy sequence",
            "rounds": "k rounds of permute-and-flip",
            "joint": "joint exponential mechanism",
        },
    ),
    "hubs": Task(
        rows=hubs,
        methods={"hubs": "**dpselect**, `Hubs`", "degree": "**dpselect**, noisy degrees"},
    ),
    "trees": Task(
        rows=trees,
        methods={
            "default": "**dpselect**, default",
            "shifted": "**dpselect**, DiffPID3, shifted",
            "diffprivlib tree": "diffprivlib's tree",
            "diffprivlib forest": "diffprivlib's forest",
            "DP-EBM": "DP-EBM (a sum of trees; δ = 10⁻⁶)",
            "DP-EBM, learning rate 0.1": "DP-EBM, learning rate 0.1",
        },
        digits=3,
    ),
    "maps": Task(
        rows=maps,
        methods={
            "quadtree": "**dpselect**, default",
            "default, grids and rules": "**dpselect**, grids and rules as candidates",
            "guideline, noisy N": "guideline of Qardaji et al., noisy N",
            "repaired form": "E2EPriv, repaired",
            "BestNonPriv (not private)": "best grid, not private",
        },
        epsilons=(1.0,),
    ),
    "searches": Task(
        rows=searches,
        methods={
            "private search": "**dpselect**, `PrivateSearchCV`",
            "default": "DiffPID3 of depth 5, no search",
            "search, not private": "search that is not private",
        },
        epsilons=(0.5, 1.0, 2.0),
        digits=3,
    ),
}


def with_tables(page: str) -> str:
    """Return a page with the tables of its marks."""
    parts = re.split(r"(<!-- table \w+ -->)", page)
    for place in range(1, len(parts), 2):
        name = parts[place].split()[2]
        rest = parts[place + 1].partition("<!-- end -->")[2]
        parts[place + 1] = f"\n\n{TASKS[name].table()}\n\n<!-- end -->{rest}"
    return "".join(parts)


def write() -> None:
    """Write the tables into the page."""
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    write()
