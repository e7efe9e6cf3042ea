"""One run of evolved trees: as in the text, and as in the code that its authors published.

By Algorithm 1, DP-MOET passes the same epsilon to every selection, so a run costs it as often
as there are generations. Such a run is shown twice: at the epsilon of each selection, and at
the epsilon of the whole run. The code (``dpselect_studies.surveys`` names it) divides epsilon
by the selections, of which it has one less than Algorithm 1; a tree dominates its equals in
the score, and trees are mutated no deeper than they were. Without privacy it keeps the last of
equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import ClassVar, Literal, TypeAlias, cast

import numpy as np
import polars as pl

from dpselect import Neighbours, Objective, TabulatedSensitivity
from dpselect.mechanisms import Mechanism
from dpselect.trees.candidates import Breeder
from dpselect.trees.domains import Schema
from dpselect.trees.front import Evolution, TreeFront
from dpselect.typing import Indices, Values
from dpselect_studies import surveys
from dpselect_studies.simulated import Simulated

Dominance: TypeAlias = Literal["weak", "standard", "strict"]
"""When a point dominates another, as ``combine.pareto`` takes it."""

TOTALS_SHARE = 0.05
"""Share of the epsilon of a run for noisy class totals, where they are used."""

NO_PRIVACY = 1e9
"""An epsilon without protection: the best trees are always kept."""
NOTHING = 1e-9
"""An epsilon at which trees are kept by chance."""
PART = 100
"""Runs that are measured and kept together."""


@dataclass(frozen=True)
class Sizes:
    """How large an evolution is.

    Attributes:
        population: Trees made at first, and children of every generation.
        survivors: Trees that each selection but the last keeps.
        front: Trees that the last selection keeps.
        generations: Selections in all: one more than Algorithm 1 has rounds.
        initial_depth: Questions on a path of the first trees.
        max_depth: Questions on a path, at most. The text does not say what its depths count;
            here they are levels of nodes, one more than questions.
    """

    population: int
    survivors: int
    front: int
    generations: int
    initial_depth: int
    max_depth: int


@dataclass(frozen=True)
class Setting:
    """Tables, the size of an evolution, epsilons, repetitions, and whether it is the code's."""

    surveys: tuple[str, ...]
    sizes: Sizes
    epsilons: tuple[float, ...]
    runs: int
    code: bool = False


@dataclass(frozen=True)
class Cell:
    """One table and one method, at all epsilons, and a part of the runs."""

    survey: str
    method: str
    sizes: Sizes
    epsilons: tuple[float, ...]
    runs: int
    part: int = 0
    code: ClassVar[bool] = False


@dataclass(frozen=True)
class CodeCell(Cell):
    """The same with the settings of the authors' code."""

    code: ClassVar[bool] = True


def in_parts(setting: Setting, pairs: Sequence[tuple[str, str]]) -> list[Cell]:
    """Return cells of at most ``PART`` runs for pairs of a table and a method."""
    made = CodeCell if setting.code else Cell
    return [
        made(survey, method, setting.sizes, setting.epsilons, min(PART, left), part)
        for part, left in enumerate(range(setting.runs, 0, -PART))
        for survey, method in pairs
    ]


Bound: TypeAlias = Literal["global", "local", "noisy-denominators"]
"""How the change of a rate by one record is bounded."""


@dataclass(frozen=True)
class Method:
    """How trees are selected.

    Attributes:
        selection: What a good tree is.
        rate_bound: How the change of a rate by one record is bounded.
        weights: Of the negative and the positive class.
    """

    selection: Literal["pareto", "weighted-sum", "margin"]
    rate_bound: Bound
    weights: tuple[float, float] = (1.0, 1.0)


class Last(Simulated):
    """Selection without privacy that keeps the last of equals, as a sort leaves them."""

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:  # noqa: ARG002 -- the protocol's
        return np.argsort(objective.scores, kind="stable")[-k:].tolist()


class CodeEvolution(Evolution):
    """Algorithm 1 with the mutation and the weighted sum of the authors' code."""

    def breeder(self, rng: np.random.Generator) -> Breeder:
        # Trees are mutated no deeper than they were.
        return Breeder(self.schema, rng, self.asked.max_depth, children_are_parents=True)

    def _objective(self, hits: Indices, totals: Indices, noisy: Indices | None) -> Objective:
        found = super()._objective(hits, totals, noisy)
        if self.asked.selection != "weighted-sum":
            return found
        positives = int(totals[1]) if self.asked.rate_bound == "local" else 1
        return Objective(found.scores, sum_not_private(positives, len(hits), self.weights))


def sum_not_private(
    positives: int, trees: int, weights: tuple[float, float]
) -> TabulatedSensitivity:
    """Return the code's sensitivity of a sum of rates, which is that of one rate alone.

    Both weights are multiplied with what a record changes of the true positive rate, one over
    the positive records, and it takes two steps at once. Of one positive record: the bound.
    """
    left = positives - np.arange(positives + positives % 2)
    table = (1 / np.maximum(left, 1)).reshape(-1, 2) @ (weights[1], weights[0])
    keys = np.zeros(trees, dtype=np.int64)
    return TabulatedSensitivity(
        table, keys, sum(weights), Neighbours.ADD_REMOVE, horizon=positives
    )


def evolution(schema: Schema, cell: Cell, method: Method, epsilon: float) -> Evolution:
    """Return how trees evolve at ``epsilon`` for each selection; in the code, for all of them.

    Noisy class totals come out of the selections' share, so every method costs the same.
    """
    sizes = cell.sizes
    each = epsilon / sizes.generations if cell.code else epsilon
    negative, positive = method.weights
    asked = TreeFront(
        **asdict(sizes),
        selection=method.selection,
        dominance="weak" if cell.code and method.selection == "pareto" else "standard",
        rate_bound=method.rate_bound,
        weights=(positive, negative),
        operators="published",
        totals_share=TOTALS_SHARE,
        rates_share=0.0,
        domains=schema.named,
        classes=schema.classes,
        max_records=surveys.MAX_RECORDS,
        epsilon=each * sizes.generations,
        neighbours="add-remove",
    )
    made = cast("Evolution", asked.design())
    if not cell.code:
        return made
    return CodeEvolution(
        **{one.name: getattr(made, one.name) for one in fields(made) if one.init}
    )


def rates(
    cell: Cell, method: Method, epsilon: float, rng: np.random.Generator, *, held: bool = False
) -> Values:
    """Return the exact rates of one drawn front, shape ``(front, 2)``: negative, positive.

    Args:
        cell: The table and how trees evolve on it.
        method: How they are selected.
        epsilon: As printed; at ``NO_PRIVACY`` the best are kept.
        rng: Of everything.
        held: Whether rates are those of the records that are held out.
    """
    schema, every = surveys.load(cell.survey).schema, surveys.counts(cell.survey)
    made, tested = surveys.divided(cell.survey) if held else (every, every)
    sampler = Last if cell.code and epsilon == NO_PRIVACY else Simulated
    drawn = evolution(schema, cell, method, epsilon).run(made, sampler(rng), rng)
    return tested.hits(drawn) / tested.totals()


def both_readings(frame: pl.DataFrame) -> pl.DataFrame:
    """Return every row twice, with its panel and its place on the axis of epsilon.

    Args:
        frame: Has columns ``survey``, ``method``, ``epsilon`` (as printed), ``total`` (what it
            costs) and ``runs``; its parts are brought together.
    """
    keys = ("survey", "method", "epsilon", "total")
    frame = frame.group_by(*keys, maintain_order=True).agg(
        (pl.col(pl.Float64).exclude(keys) * pl.col("runs")).sum() / pl.col("runs").sum()
    )
    readings = (("epsilon", "epsilon as printed"), ("total", "epsilon in all"))
    return pl.concat(
        frame.with_columns(panel=pl.format("{}, {}", "survey", pl.lit(what)), shown=column)
        for column, what in readings
    )
