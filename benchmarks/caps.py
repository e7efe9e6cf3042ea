"""A cap that is chosen privately, beside every fixed cap, at the same epsilon.

Run: ``DPSELECT_DATA=<folder> python benchmarks/caps.py [QUESTION ...]``, such as
``quartiles``, or all; ``--show`` prints the table of ``docs/measurements.md`` from
``benchmarks/results/caps.csv``. Real persons with many rows:

- Gowalla: 5,628 visitors and 31,803 places;
- Twitter: who follows whom, a person being who follows;
- GitHub: nodes and the ends of their edges;
- DBLP: authors and whom they wrote with.

The best fixed cap is the one that is best on these very data at all of epsilon, which nobody
can know without looking. What is chosen is weighed by the exact chances of each cap. The recall
of the top 10 and 100, the ranks by which the worst of three quartiles errs, and half the sum
of the errors of the shares of 256 districts of a map are means of releases. All rows are the
truth.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

import dpselect as dp
from dpselect.keys.counts import Counted, KeyCounts, people_in
from dpselect.keys.question import question_of
from dpselect.maps.points import PointDesign
from dpselect.typing import Indices
from dpselect_studies import datasets

RESULTS = Path(__file__).parent / "results" / "caps.csv"
CAPS = (1, 2, 5, 10, 20, 50, 100)
EPSILONS = (0.1, 0.5, 1.0, 2.0)
SHARE = 0.04
DELTA = 1e-6
REPEATS = 5
ERRORS = ("quartiles", "map")
"""Questions of which less is better."""
BOUNDS, GRIDS, SIDE = (-125.0, 25.0, -66.0, 50.0), (16, 32, 64, 128), 16
"""Of the map: most of the United States."""
NAMES = ("data", "question", "epsilon", "asked", "cap", "value", "chance")
PUBLIC: dict[str, Any] = {"user": "person", "neighbours": "add-remove"}


@dataclass(frozen=True, eq=False)
class People:
    """Rows of persons.

    Attributes:
        name: Of the data.
        rows: With the columns ``person``, ``key`` and ``number``; of places ``x`` and ``y``.
        upper: The largest number that may be released; public.
        step: The distance of two.
    """

    name: str
    rows: pl.DataFrame
    upper: float
    step: float

    @cached_property
    def order(self) -> list[int]:
        """All keys, those that most people have first."""
        counts = self.rows.unique(["person", "key"]).group_by("key").len()
        return counts.sort("len", "key", descending=[True, False])["key"].to_list()


def people() -> Iterator[People]:
    """Return the data."""
    visits = datasets.load("points_gowalla_u5628")
    north = (pl.col("lat").cast(pl.Float64) + 90).alias("number")
    yield People(
        "Gowalla",
        visits.select(north, x=_degrees("lon"), y=_degrees("lat"), person="user", key="poi"),
        180,
        0.1,
    )
    follows = datasets.load("ego_twitter").select(person="src", key="dst")
    yield People("Twitter", _with_number(follows), 5000, 1)
    for name, of in (("GitHub", "github_musae"), ("DBLP", "dblp_htne")):
        edges = datasets.load(of).select(person="src", key="dst")
        both = pl.concat([edges, edges.select(person="key", key="person")])
        yield People(name, _with_number(both), 10_000, 1)


def _degrees(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64)


def _with_number(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with how many rows their key has."""
    return rows.with_columns(number=pl.len().over("key").cast(pl.Float64))


def module_of(design: object) -> ModuleType:
    """Return the module in which a design reads."""
    return import_module(type(design).__module__)


class Read:
    """What is counted at a cap, read once for all questions of some data."""

    def __init__(self, of: People, cap: int) -> None:
        asked = question_of(column="key", user="person", max_per_user=cap, missing="drop")
        self.every = people_in(of.rows, asked).from_count(1)
        keys = self.every.keys_at(np.arange(self.every.people.size))
        known = dict(zip(keys, self.every.people.tolist(), strict=True))
        self.public = np.array([known.get(key, 0) for key in of.order])
        self.numbers: Any = None

    def of(self, *_: object) -> list[Indices]:
        return [self.public]

    def from_count(self, _least: int) -> Counted:
        return self.every

    def counted(self, design: Any, of: People) -> tuple[float, Any]:  # noqa: ANN401
        """Return what is scored, and the draw."""
        read = design.counted
        if isinstance(design, PointDesign):
            return read(of.rows)
        if isinstance(design, KeyCounts):
            with patch.object(module_of(design), "people_in", lambda *_: self):
                return read(None)
        if self.numbers is None:
            self.numbers = design.records.of(of.rows)
        draw = design._of_numbers(self.numbers)  # noqa: SLF001 -- read once for all questions
        return self.numbers.number(design.points), draw


Measure = Callable[[Any], float]
"""Returns how good a release is."""


def questions(of: People) -> Iterator[tuple[str, Callable[..., Any], Measure]]:
    """Return the name of each question, its query, and how good a release is."""
    shared = PUBLIC | {"column": "key"}
    for k in (10, 100):
        top = frozenset(of.order[:k])

        def recall(one: Any, top: frozenset[int] = top) -> float:  # noqa: ANN401
            return len(top & set(one.answer)) / len(top)

        ask = partial(dp.TopKeys, **shared, k=k)
        yield f"top {k}, unknown keys", partial(ask, delta=DELTA), recall
        yield f"top {k}, public keys", partial(ask, candidates=of.order), recall
    numbers = np.sort(of.rows["number"].to_numpy())

    def error(one: Any) -> float:  # noqa: ANN401
        """Return the largest distance from a rank, in shares of all rows."""
        low = np.searchsorted(numbers, one.answer, "left") / numbers.size
        high = np.searchsorted(numbers, one.answer, "right") / numbers.size
        asked = np.array(one.p) / 100
        return float(np.maximum(low - asked, asked - high).clip(min=0).max())

    quartiles: dict[str, Any] = {"p": (25, 50, 75), "upper": of.upper, "step": of.step}
    yield "quartiles", partial(dp.Percentiles, column="number", **PUBLIC, **quartiles), error

    if "x" in of.rows.columns:
        table = of.rows.filter(
            pl.col("x").is_between(BOUNDS[0], BOUNDS[2], closed="left"),
            pl.col("y").is_between(BOUNDS[1], BOUNDS[3], closed="left"),
        )
        cuts = [np.linspace(BOUNDS[at], BOUNDS[at + 2], SIDE + 1) for at in (0, 1)]
        true, *_ = np.histogram2d(table["x"], table["y"], bins=cuts)
        shares = true / true.sum()
        areas = [
            (cuts[0][i], cuts[1][j], cuts[0][i + 1], cuts[1][j + 1])
            for i, j in product(range(SIDE), range(SIDE))
        ]

        def off(one: Any) -> float:  # noqa: ANN401
            """Return half the sum of the errors of all shares."""
            found = one.estimate(areas).values.reshape(SIDE, SIDE).clip(min=0)
            return float(np.abs(found / max(found.sum(), 1) - shares).sum() / 2)

        asked: dict[str, Any] = {"x": "x", "y": "y", "bounds": BOUNDS, "grids": GRIDS}
        yield "map", partial(dp.Map, **PUBLIC, **asked), off


def measured(of: People, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Return how good each cap is, and what is chosen."""
    reads = {cap: Read(of, cap) for cap in CAPS}
    asked = [one for one in questions(of) if one[0] in wanted or not wanted]
    for (name, ask, good), epsilon in product(asked, EPSILONS):
        for label, left in (("fixed", epsilon), ("chosen", epsilon * (1 - SHARE))):
            queries = [ask(max_per_user=cap, epsilon=left) for cap in CAPS]
            pairs = zip(CAPS, queries, strict=True)
            found = [reads[cap].counted(one.design(), of) for cap, one in pairs]
            value = [
                np.mean([good(draw(query.plan)) for _ in range(REPEATS)])
                for query, (_, draw) in zip(queries, found, strict=True)
            ]
            chances = [None] * len(CAPS)
            if label == "chosen":
                made = ask(max_per_user=dp.Choose(CAPS, SHARE), epsilon=epsilon).design()
                objective = made.objective([number for number, _ in found])
                chances = made.choice.probabilities(objective).tolist()
            for cap, one, chance in zip(CAPS, value, chances, strict=True):
                row = (of.name, name, epsilon, label, cap, f"{one:.5g}", chance)
                yield dict(zip(NAMES, row, strict=True))
        print(f"{of.name}, {name}, {epsilon:g}: done", flush=True)


def show() -> None:
    """Print the stored results."""
    table = pl.read_csv(RESULTS)
    print(
        "| data | question | ε | best cap | at it | smallest | largest | chosen | of the best |"
    )
    print("| --- | --- |" + " ---: |" * 7)
    for key, rows in table.group_by("data", "question", "epsilon", maintain_order=True):
        fixed = rows.filter(pl.col("asked") == "fixed").sort("cap")
        is_error = key[1] in ERRORS
        values = fixed["value"].to_list()
        at = int(np.argmin(values) if is_error else np.argmax(values))
        drawn = rows.filter(pl.col("asked") == "chosen")
        chosen = float((drawn["value"] * drawn["chance"]).sum())
        cells = [values[at], values[0], values[-1], chosen]
        shown = [f"{one:.4f}" if is_error else f"{one:,.3g}" for one in cells]
        part = "" if is_error or not values[at] else f"{chosen / values[at]:.0%}"
        print(f"| {' | '.join(map(str, [*key, fixed['cap'][at], *shown, part]))} |")


def main() -> None:
    """Measure, or print what was stored."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("questions", nargs="*", help="those to measure anew; all if none")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        wanted = given.questions
        before = pl.read_csv(RESULTS, infer_schema=False).filter(
            pl.col("question").is_in(wanted).not_() & pl.lit(bool(wanted))
        )
        with RESULTS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, NAMES)
            writer.writeheader()
            writer.writerows(before.to_dicts())
            for row in (row for one in people() for row in measured(one, wanted)):
                writer.writerow(row)
                file.flush()
    show()


if __name__ == "__main__":
    main()
