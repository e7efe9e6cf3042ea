"""Pooling designs: which sample goes into which pool. Public, and independent of all samples.

Each function returns a boolean matrix of shape ``(pools, people)``.
"""

from __future__ import annotations

from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import _validate
from dpselect.errors import ParameterError

Design: TypeAlias = NDArray[np.bool_]
"""Shape ``(pools, people)``: whether a person's sample is in a pool."""


def bernoulli(
    people: int, pools: int, *, probability: float, rng: np.random.Generator
) -> Design:
    """Return a design with every sample in every pool independently.

    Args:
        people: At least 1.
        pools: At least 1.
        probability: Of being in a pool, in (0, 1). Near ``ln 2 / positives`` half of the
            pools are positive; ``1 / positives`` is the other common choice.
        rng: The generator; a design need not be secret.
    """
    shape = _shape(people, pools)
    share = _validate.within("probability", probability, 0, 1)
    if share in {0, 1}:
        raise ParameterError("probability must be strictly between 0 and 1")
    return _validate.instance("rng", rng, np.random.Generator).random(shape) < share


def constant_column_weight(
    people: int, pools: int, *, weight: int, rng: np.random.Generator
) -> Design:
    """Return a design with every sample in exactly ``weight`` pools, drawn uniformly."""
    pools, people = _shape(people, pools)
    weight = _weight(weight, pools)
    _validate.instance("rng", rng, np.random.Generator)
    design = np.zeros((pools, people), dtype=np.bool_)
    for person in range(people):
        design[rng.choice(pools, weight, replace=False), person] = True
    return design


def near_constant_column_weight(
    people: int, pools: int, *, weight: int, rng: np.random.Generator
) -> Design:
    """Return a design with ``weight`` pools drawn with replacement for every sample.

    Source: Johnson, Aldridge and Scarlett 2019, arXiv:1612.07122. With
    ``weight = round(ln 2 * pools / positives)`` it beats the Bernoulli design.
    """
    pools, people = _shape(people, pools)
    weight = _validate.at_least("weight", weight, 1)
    _validate.instance("rng", rng, np.random.Generator)
    design = np.zeros((pools, people), dtype=np.bool_)
    design[rng.integers(pools, size=(weight, people)), np.arange(people)] = True
    return design


def doubly_balanced(
    people: int,
    pools: int,
    *,
    weight: int,
    max_pool_size: int | None = None,
    rng: np.random.Generator,
) -> Design:
    """Return a design with every sample in ``weight`` pools and equal pools, give or take one.

    Every sample goes to the pools that are emptiest so far, drawn among equals.

    Args:
        people: At least 1.
        pools: At least 1.
        weight: Pools for each sample, 1 to ``pools``.
        max_pool_size: What the assay allows.
        rng: The generator.

    Raises:
        ParameterError: No such design keeps to the cap; the message says how many pools do.
    """
    pools, people = _shape(people, pools)
    weight = _weight(weight, pools)
    largest = ceil(people * weight / pools)
    if max_pool_size is not None:
        cap = _validate.at_least("max_pool_size", max_pool_size, 1)
        if largest > cap:
            raise ParameterError(
                f"{people} samples in {weight} pools each need pools of {largest}, above "
                f"max_pool_size = {cap}: take at least {ceil(people * weight / cap)} pools"
            )
    _validate.instance("rng", rng, np.random.Generator)
    design = np.zeros((pools, people), dtype=np.bool_)
    filled = np.zeros(pools)
    for person in range(people):
        emptiest = np.argpartition(filled + rng.random(pools), weight - 1)[:weight]
        design[emptiest, person] = True
        filled[emptiest] += 1
    return design


def dorfman(people: int, *, pool_size: int) -> Design:
    """Return disjoint pools of neighbours; positive ones are to be retested one by one.

    Source: Dorfman 1943.
    """
    people = _validate.at_least("people", people, 1)
    size = _validate.at_least("pool_size", pool_size, 1)
    pool = np.arange(people) // size
    return pool[None, :] == np.arange(ceil(people / size))[:, None]


def array_2d(people: int, *, rows: int, columns: int) -> Design:
    """Return the pools of all rows and all columns of plates; the last may be part empty."""
    people = _validate.at_least("people", people, 1)
    rows = _validate.at_least("rows", rows, 1)
    columns = _validate.at_least("columns", columns, 1)
    person = np.arange(people)
    plate, well = np.divmod(person, rows * columns)
    row, column = np.divmod(well, columns)
    design = np.zeros(((plate[-1] + 1) * (rows + columns), people), dtype=np.bool_)
    design[plate * (rows + columns) + row, person] = True
    design[plate * (rows + columns) + rows + column, person] = True
    return design[design.any(axis=1)]


def checked(design: ArrayLike) -> Design:
    """Return a design as a boolean matrix.

    Raises:
        ParameterError: It is not a matrix of zeros and ones with at least one person.
    """
    try:
        matrix = np.asarray(design)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ParameterError("design must be a matrix with one row per pool, one column each")
    if matrix.dtype != np.bool_:
        if not np.isin(matrix, (0, 1)).all():
            raise ParameterError("design must hold only True and False, or 1 and 0")
        matrix = matrix.astype(np.bool_)
    return matrix


def _shape(people: int, pools: int) -> tuple[int, int]:
    return _validate.at_least("pools", pools, 1), _validate.at_least("people", people, 1)


def _weight(weight: int, pools: int) -> int:
    if _validate.at_least("weight", weight, 1) > pools:
        raise ParameterError(f"weight must be at most the number of pools, {pools}")
    return int(weight)
