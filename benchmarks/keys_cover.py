"""Persons reached by k keys together: chosen one after the other, and the k most common.

Run: ``DPSELECT_DATA=<folder> python benchmarks/keys_cover.py``; it prints the table of
``docs/report/measurements.md``. Keys are public, and no key of a person is left out.

A cover draws ``k`` keys by the exponential mechanism on how many persons each adds to those
that are reached (Gupta, Ligett, McSherry, Roth and Talwar 2010; Dick, Joseph and Raman 2026).
With a person more, a key of that person becomes more probable by at most ``e^η`` until one is
drawn, after which the person changes nothing. So with ``p`` the probability of such a key, the
quotient of both laws falls by ``1/(1 + p (e^η - 1))`` in every round before, and rises by
``e^η`` in that one; the largest delta over all ``p`` is a recursion over rounds, rounded up.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keys_rounds import DELTA, columns, limited

EPSILONS = (0.3, 1.0)
SIZES = (10, 50)
RUNS = 3
GRID = 2000
ALL = 10**6

Array = NDArray[Any]


def delta_of(eta: float, draws: int, epsilon: float) -> float:
    """Return an upper bound of the delta of so many draws, under add/remove of a person."""
    logs = np.linspace(-2 * epsilon - 3 * eta, 0, GRID)
    worst = np.maximum(0, 1 - np.exp(epsilon + logs))
    for _ in range(draws):
        best = np.zeros(GRID)
        for p in [0.0, *np.geomspace(1e-4, 1, 150).tolist()]:
            after = logs - np.log1p(p * np.expm1(eta))
            place = np.searchsorted(logs, after, side="right") - 1
            missed = np.where(place >= 0, worst[place.clip(min=0)], 1.0)
            hit = np.maximum(0, 1 - np.exp(epsilon + eta + after))
            best = np.maximum(best, (1 - p) * missed + p * hit)
        worst = best
    return float(worst[-1])


def eta_for(epsilon: float, draws: int) -> float:
    """Return the largest epsilon of one draw."""
    low, high = epsilon / draws, epsilon
    for _ in range(16):
        middle = (low + high) / 2
        fits = delta_of(middle, draws, epsilon) <= DELTA
        low, high = (middle, high) if fits else (low, middle)
    return low


def cover(
    users: Array, keys: Array, k: int, eta: float | None, rng: np.random.Generator
) -> float:
    """Return the share of persons reached by keys drawn one after the other."""
    left, open_ = np.ones(keys.max() + 1, dtype=bool), np.ones(users.max() + 1, dtype=bool)
    for _ in range(k):
        gains = np.bincount(keys[open_[users]], minlength=left.size).astype(float)
        noise = 0 if eta is None else rng.gumbel(size=gains.size) / eta
        one = int(np.where(left, gains + noise, -np.inf).argmax())
        left[one] = False
        open_[users[keys == one]] = False
    return 1 - float(open_.mean())


def most_common(
    users: Array, keys: Array, k: int, eta: float | None, rng: np.random.Generator
) -> float:
    """Return the share of persons reached by the k keys of most persons."""
    counts = np.bincount(keys).astype(float)
    noise = 0 if eta is None else rng.gumbel(size=counts.size) / eta
    top = np.argsort(-(counts + noise))[:k]
    return float(np.unique(users[np.isin(keys, top)]).size / (users.max() + 1))


def main() -> None:
    """Print what is reached, without noise and with it."""
    etas = {(k, epsilon): eta_for(epsilon, k) for k, epsilon in product(SIZES, EPSILONS)}
    cases = [None, *EPSILONS]
    print(f"| column | k | no noise | {' | '.join(f'ε = {one:g}' for one in EPSILONS)} |")
    for name, rows in columns():
        users, keys = limited(rows, ALL)
        for k in SIZES:
            shown = []
            for epsilon in cases:
                eta = None if epsilon is None else etas[k, epsilon]
                reached = [
                    np.mean(
                        [
                            one(users, keys, k, eta, np.random.default_rng(n))
                            for n in range(RUNS)
                        ]
                    )
                    for one in (cover, most_common)
                ]
                shown.append(" / ".join(f"{one:.1%}" for one in reached))
            print(f"| {name} | {k} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
