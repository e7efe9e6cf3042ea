"""One run of evolved trees, shown at both readings of epsilon.

As printed, DP-MOET passes the same epsilon to every selection, so a run costs it as often as
there are generations. A run is measured once and shown twice: at the epsilon of each
selection, as in the paper, and at the epsilon of the whole run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from dpselect.trees.candidates import Breeder, Operators
from dpselect.trees.counts import Counts
from dpselect.trees.evolution import Allowance, Evolution, Selection
from dpselect.trees.randomness import Simulated
from dpselect.trees.records import Schema
from dpselect.typing import Values
from dpselect_studies import surveys

TOTALS_SHARE = 0.05
"""Share of the epsilon of a run for noisy class totals, where they are used."""

NO_PRIVACY = 1e9
"""An epsilon without protection: the best trees are always kept."""
NOTHING = 1e-9
"""An epsilon at which trees are kept by chance."""


@dataclass(frozen=True)
class Sizes:
    """How large an evolution is.

    Attributes:
        population: Trees made at first, and children of every generation.
        survivors: Trees that each selection but the last keeps.
        front: Trees that the last selection keeps.
        generations: Selections in all: one more than Algorithm 1 has rounds.
        initial_depth: Questions on a path of the first trees.
        max_depth: Questions on a path, at most.
    """

    population: int
    survivors: int
    front: int
    generations: int
    initial_depth: int
    max_depth: int


@dataclass(frozen=True)
class Setting:
    """Tables, the size of an evolution, epsilons of a selection, and repetitions."""

    surveys: tuple[str, ...]
    sizes: Sizes
    epsilons: tuple[float, ...]
    runs: int


@dataclass(frozen=True)
class Cell:
    """One table and one method, at all epsilons."""

    survey: str
    method: str
    sizes: Sizes
    epsilons: tuple[float, ...]
    runs: int


@dataclass(frozen=True)
class Method:
    """How trees are selected, and the weights of the negative and the positive class."""

    selection: Selection
    sensitivity: Allowance
    weights: tuple[float, float] = (1.0, 1.0)
    operators: Operators = "published"


def evolution(
    schema: Schema, sizes: Sizes, method: Method, epsilon: float, rng: np.random.Generator
) -> Evolution:
    """Return how trees evolve at ``epsilon`` for each selection.

    Noisy class totals come out of the selections' share, so every method costs the same.
    """
    noisy = method.sensitivity == "noisy-denominators"
    share = TOTALS_SHARE if noisy else 0.0
    return Evolution(
        breeder=Breeder(schema, rng, sizes.max_depth, method.operators),
        max_records=surveys.MAX_RECORDS,
        population=sizes.population,
        survivors=sizes.survivors,
        front=sizes.front,
        initial_depth=sizes.initial_depth,
        selection=method.selection,
        sensitivity=method.sensitivity,
        weights=method.weights,
        totals_epsilon=share * epsilon * sizes.generations,
        epsilons=((1 - share) * epsilon,) * sizes.generations,
        rates_epsilon=0.0,
    )


def rates(plan: Evolution, counts: Counts, rng: np.random.Generator) -> Values:
    """Return the exact rates of one drawn front, shape ``(front, 2)``: negative, positive."""
    drawn = plan.run(counts, Simulated(rng))
    return counts.hits(drawn) / counts.totals()


def both_readings(frame: pl.DataFrame) -> pl.DataFrame:
    """Return every row twice, with its panel and its place on the axis of epsilon.

    Args:
        frame: Has columns ``survey``, ``epsilon`` (as printed) and ``total`` (what it costs).
    """
    readings = (("epsilon", "epsilon as printed"), ("total", "epsilon in all"))
    return pl.concat(
        frame.with_columns(panel=pl.format("{}, {}", "survey", pl.lit(what)), shown=column)
        for column, what in readings
    )
