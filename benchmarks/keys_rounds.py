"""Expected number of keys by method, on five columns whose persons have many.

Run: ``DPSELECT_DATA=<folder> python benchmarks/keys_rounds.py [measure | show]``:
``measure`` stores ``results/keys_rounds.csv``, and ``show`` prints all of it.

Besides the methods of ``dp.Keys`` there are three of weights that are not offered: weights
once (Gopi et al. 2020), twice, without what the first round finds (Swanberg et al. 2023), and
maximum adaptive degree (Chen et al. 2025), derived again from its abstract: a person with at
most ``D`` keys gives ``1/t`` to each, what a key has beyond ``τ = T + σ`` goes back to its
people in proportion, and of what comes back ``1/D`` goes to each of the person's keys; to
this come ``1/√t - 1/t``, and ``1/√t`` of persons with more than ``D`` keys. It is shown with
the best of four ``D``, which nobody could know. Expected numbers are exact for one round, and
else means of simulations; all methods have the same persons' keys.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from math import log1p, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dpselect.budget.zcdp import delta_of_gaussian
from dpselect.keys.rounds import RoundsSelection
from dpselect.keys.selection import selection_of
from dpselect_studies import datasets

DELTA = 1e-6
EPSILONS = (0.1, 0.3, 1.0, 3.0)
CAPS = (3, 10, 100)
DEGREES = (5, 10, 20, 50)
RUNS = 5
RESULTS = Path(__file__).parent / "results" / "keys_rounds.csv"

Array = NDArray[Any]


def columns() -> Iterator[tuple[str, pl.DataFrame]]:
    """Return rows of a user and a key."""
    visits = datasets.load("points_gowalla_u5628")
    yield "places, Gowalla", visits.select("user", key="poi")
    named = {
        "github_musae": "neighbours, GitHub",
        "ego_twitter": "neighbours, Twitter",
        "enron": "correspondents, Enron",
    }
    for name, title in named.items():
        edges = datasets.load(name)
        both = [edges.select(user=a, key=b) for a, b in (("src", "dst"), ("dst", "src"))]
        yield title, pl.concat(both)
    rng = np.random.default_rng(0)
    sizes = np.minimum(rng.lognormal(3, 1, 50_000).astype(int) + 1, 400)
    words = np.minimum(rng.zipf(1.15, sizes.sum()), 10**6)
    persons = np.repeat(np.arange(sizes.size), sizes)
    yield "words, simulated", pl.DataFrame({"user": persons, "key": words})


def limited(rows: pl.DataFrame, most: int) -> tuple[Array, Array]:
    """Return users and keys from 0 on, of which a user has at most so many."""
    rows = rows.unique(maintain_order=True).sample(fraction=1, shuffle=True, seed=0)
    rows = rows.filter(pl.int_range(pl.len()).over("user") < most)
    users, keys = (np.unique(rows[name], return_inverse=True)[1] for name in ("user", "key"))
    return users, keys


def threshold(scale: float, delta: float, most: int, degree: int | None = None) -> float:
    """Return the threshold of one round for persons' own keys, of whom ``n`` of ``t`` are."""

    def above(number: Array) -> Array:
        return -scale * ndtri(-np.expm1(log1p(-delta) / number))

    sizes = np.arange(1, most + 1)
    found = np.max(1 / np.sqrt(sizes) + above(sizes))
    for size in range(1, min(degree or 0, most) + 1):
        number = np.arange(1, size + 1)
        returned = (1 - number / size) / (degree or 1)
        found = max(found, np.max(1 / sqrt(size) + returned + above(number)))
    return float(found)


def largest_mu(epsilon: float, delta: float) -> float:
    """Return the mu that costs epsilon and delta."""
    return float(brentq(lambda mu: delta_of_gaussian(mu, epsilon) - delta, 1e-3, 99))


def noise(
    epsilon: float, most: int, shares: tuple[float, ...], degree: int | None = None
) -> tuple[list[float], list[float]]:
    """Return scales and thresholds by round, for the split of delta that is best."""
    tried = []
    for share in np.linspace(0.02, 0.98, 25).tolist():
        mu = largest_mu(epsilon, share * DELTA)
        scales = [1 / sqrt(part) / mu for part in shares]
        of_round = (1 - share) * DELTA / len(shares)
        tried.append((scales, [threshold(one, of_round, most, degree) for one in scales]))
    return min(tried, key=lambda one: one[1][-1])


def by_size(users: Array, keys: Array, size: int) -> Array:
    """Return the weights of keys by roots of the number of a person's keys."""
    return np.bincount(keys, 1 / np.sqrt(np.bincount(users)[users]), size)


def adaptive(users: Array, keys: Array, size: int, degree: int, ample: float) -> Array:
    """Return the weights of maximum adaptive degree."""
    of_user = np.bincount(users)
    few = of_user[users] <= degree
    first = np.bincount(keys[few], 1 / of_user[users[few]], size)
    excess = np.maximum(0, first - ample)
    share = np.divide(excess, first, out=np.zeros(size), where=first > 0)
    back = np.bincount(users[few], share[keys[few]] / of_user[users[few]], of_user.size)
    returned = np.bincount(keys[few], back[users[few]], size) / degree
    return by_size(users, keys, size) - excess + returned


def chances(weights: Array, scale: float, least: float) -> Array:
    """Return the probabilities that noise brings weights to a threshold."""
    return np.where(weights > 0, ndtr((weights - least) / scale), 0.0)


def twice(users: Array, keys: Array, epsilon: float, most: int) -> float:
    """Return the mean number of keys of two rounds of new noise each."""
    size, found = keys.max() + 1, []
    scales, least = noise(epsilon, most, (0.1, 0.9))
    first = chances(by_size(users, keys, size), scales[0], least[0])
    for run in range(RUNS):
        released = np.random.default_rng(run).random(size) < first
        left = ~released[keys]
        rest = by_size(users[left], keys[left], size)
        found.append(released.sum() + chances(rest, scales[1], least[1]).sum())
    return float(np.mean(found))


def in_rounds(users: Array, keys: Array, epsilon: float, most: int) -> Array:
    """Return the numbers of keys of runs of the library's rounds."""
    law, found = RoundsSelection(epsilon, DELTA, most, 1), []
    for run in range(RUNS):
        rng, size = np.random.default_rng(run), keys.max() + 1
        left, released = np.ones(keys.size, dtype=bool), 0
        sums, alive = np.zeros(size), np.ones(size, dtype=bool)
        for bounds in law.bounds:
            sums += by_size(users[left], keys[left], size)
            sums += law.noise.scale * rng.standard_normal(size)
            low, high = (one / law.steps for one in bounds)
            released += int((alive & (sums >= high)).sum())
            alive &= (sums >= low) & (sums < high)
            left &= alive[keys]
        found.append(released)
    return np.array(found)


def measure() -> None:
    """Store the expected number of keys of every method."""
    stored = []
    for name, rows in columns():
        for most, epsilon in product(CAPS, EPSILONS):
            users, keys = limited(rows, most)
            size, people = keys.max() + 1, np.bincount(keys)
            found = {
                method: selection_of(method, epsilon, DELTA, most).probabilities(people).sum()
                for method in ("optimal", "gaussian")
            }
            scales, least = noise(epsilon, most, (1.0,))
            once = by_size(users, keys, size)
            found["weights, once"] = chances(once, scales[0], least[0]).sum()
            found["weights, twice"] = twice(users, keys, epsilon, most)
            by_degree = []
            for degree in DEGREES:
                scales, least = noise(epsilon, most, (1.0,), degree)
                moved = adaptive(users, keys, size, degree, least[0] + scales[0])
                by_degree.append(chances(moved, scales[0], least[0]).sum())
            found["adaptive degree"] = max(by_degree)
            runs = in_rounds(users, keys, epsilon, most)
            found["rounds"] = runs.mean()
            error = runs.std(ddof=1) / sqrt(RUNS)
            stored += [
                (name, most, epsilon, method, number, error if method == "rounds" else None)
                for method, number in found.items()
            ]
        print(f"{name}: done", flush=True)
    names = ["column", "max_per_user", "epsilon", "method", "keys", "standard error"]
    pl.DataFrame(stored, schema=names, orient="row").write_csv(RESULTS, float_precision=2)
    show()


def show() -> None:
    """Print the stored table."""
    table = pl.read_csv(RESULTS)
    methods = table["method"].unique(maintain_order=True).to_list()
    print(f"| column | values a person | ε | {' | '.join(methods)} |")
    print("|---|--:|--:|" + "--:|" * len(methods))
    lost = []
    for (name, most, epsilon), cells in table.group_by(
        "column", "max_per_user", "epsilon", maintain_order=True
    ):
        numbers = cells["keys"].to_list()
        if numbers[-1] < max(numbers[:-1]):
            lost.append((name, most, epsilon, *numbers))
        shown = [f"{one:,.0f}" if one >= 10 else f"{one:.1f}" for one in numbers]
        print(f"| {name} | {most} | {epsilon:g} | {' | '.join(shown)} |")
    print("fewer than another method:", lost)


if __name__ == "__main__":
    {"measure": measure, "show": show}[(sys.argv[1:] or ["show"])[0]]()
