"""Top variants of a genome-wide study: scores by people or by chi-square, and how they draw.

Run: ``python benchmarks/variants.py``. Cohorts are simulated: half cases, half controls, in
Hardy-Weinberg equilibrium; allele frequencies uniform on (0.05, 0.5); ten variants with odds
ratios uniform on the stated range or one over it, all others with 1. Recall is the share of the
ten variants of the largest chi-square that is drawn, of draws simulated on one cohort. Local
sensitivities of chi-square are exact (checked here on all tables of 12 people), at distances
of up to the stated horizon. Noisy counts get Laplace noise on all four counts of each variant.
The time is of a real release, with its scores. The results are written to
``benchmarks/results/variants.csv``, the picture to ``docs/variants.png``.
"""

from __future__ import annotations

import csv
import platform
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

import numpy as np

import dpselect as dp
from dpselect._compiled import compiled
from dpselect.typing import Indices, Values

RESULTS = Path(__file__).with_name("results") / "variants.csv"
PICTURE = Path(__file__).parents[1] / "docs" / "variants.png"
K = 10
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
COHORTS = 1
ODDS = {2_000: (1.6, 2.2), 10_000: (1.25, 1.6)}
"""Odds ratios by the number of people."""

FEW, MANY, ALL = 1_000, 100_000, 1_000_000
DRAWS = {FEW: 50, MANY: 20}
"""Draws on each cohort, by the number of variants."""

HORIZON = 250
COLUMNS = ("people", "variants", "score", "mechanism", "epsilon", "recall")


Rng: TypeAlias = np.random.Generator
Draws: TypeAlias = Callable[[float, Rng], Indices]


def cohort(rng: Rng, people: int, variants: int) -> Indices:
    """Return the four counts of each variant; the first ten are associated."""
    frequency = rng.uniform(0.05, 0.5, variants)
    odds = np.ones(variants)
    odds[:K] = rng.uniform(*ODDS[people], K) ** rng.choice([-1, 1], K)
    case = frequency * odds / (1 - frequency + frequency * odds)
    counts = []
    for p in (case, frequency):
        two = rng.binomial(people // 2, p * p)
        counts += [rng.binomial(people // 2 - two, 2 * p * (1 - p) / (1 - p * p)), two]
    return np.stack(counts, axis=1)


@compiled
def chi_square(x: float, y: float, n: float) -> float:
    """Return the statistic of as many cases as controls, with ``n`` alleles each."""
    copies = x + y
    if copies in (0, 2 * n):
        return 0.0
    return 2 * (x - y) ** 2 / (copies * (2 - copies / n))


@compiled
def moved(people: int, by_two: int, by_one: int) -> int:
    """Return how many copies come, or go, by changes of so many people."""
    return min(people, by_two) + min(people, by_two + by_one)


@compiled
def largest_changes(row: Indices, group: int, horizon: int) -> Values:
    """Return what one person changes at most of chi-square, by distance; shape ``(horizon,)``.

    The largest changes are at corners: cases moved as far as they can be, and controls the
    other way.
    """
    n = 2 * group
    case = (group - row[0] - row[1], row[0], row[1])
    control = (group - row[2] - row[3], row[2], row[3])
    x, y = case[1] + 2 * case[2], control[1] + 2 * control[2]
    out = np.zeros(horizon)
    for t in range(horizon):
        for t1 in range(max(0, t - group), min(t, group) + 1):
            t2 = t - t1
            for side in range(2):
                c = case if side == 0 else case[::-1]
                d = control[::-1] if side == 0 else control
                sign = 1 - 2 * side
                x0, x1 = x + sign * moved(t1, c[0], c[1]), x + sign * moved(t1 + 1, c[0], c[1])
                y0, y1 = y - sign * moved(t2, d[0], d[1]), y - sign * moved(t2 + 1, d[0], d[1])
                here = chi_square(x0, y0, n)
                # The last person to move may be one who moves two copies.
                if c[0] > 0 or x1 != x0:
                    there = chi_square(x1, y0, n)
                    last = chi_square(x1 - sign * (2 if c[0] > 0 else 1), y0, n)
                    out[t] = max(out[t], abs(there - last))
                if d[0] > 0 or y1 != y0:
                    there = chi_square(x0, y1, n)
                    last = chi_square(x0, y1 + sign * (2 if d[0] > 0 else 1), n)
                    out[t] = max(out[t], abs(there - last))
                # One person back: by two copies where somebody has them.
                twos = c[2] + min(t1, c[0] + c[1])
                if twos > 0 or c[1] > 0:
                    there = chi_square(x0 - sign * (2 if twos > 0 else 1), y0, n)
                    out[t] = max(out[t], abs(there - here))
                twos = d[2] + min(t2, d[0] + d[1])
                if twos > 0 or d[1] > 0:
                    there = chi_square(x0, y0 + sign * (2 if twos > 0 else 1), n)
                    out[t] = max(out[t], abs(there - here))
        if t and out[t] < out[t - 1]:
            out[t] = out[t - 1]
    return out


def check_local_sensitivities(group: int) -> None:
    """Compare the largest changes with those of all tables, by definition."""
    groups = [(a, b) for a in range(group + 1) for b in range(group + 1 - a)]
    tables = np.array([(*case, *control) for case, control in product(groups, groups)])
    full = np.array([[group - a - b, a, b] for a, b in groups])
    steps = np.abs(full[:, None] - full[None]).sum(axis=2) // 2
    near = (steps[:, None, :, None] + steps[None, :, None, :]).reshape(len(tables), -1)
    score = np.array([chi_square(a + 2 * b, c + 2 * d, 2 * group) for a, b, c, d in tables])
    change = np.where(near == 1, np.abs(score[:, None] - score[None]), 0).max(axis=1)
    for i, row in enumerate(tables):
        by_definition = [change[near[i] <= t].max() for t in range(2 * group)]
        np.testing.assert_allclose(largest_changes(row, group, 2 * group), by_definition)


def by_chi_square(counts: Indices, people: int) -> dp.Objective:
    """Return chi-square of each variant, with its local sensitivity at every distance."""
    group = people // 2
    copies = counts[:, ::2] + 2 * counts[:, 1::2]
    scores = [chi_square(x, y, people) for x, y in copies.tolist()]
    changes = np.array([largest_changes(row, group, HORIZON) for row in counts])
    # Cases with all copies and controls with none, of whom one loses two.
    bound = chi_square(people, 0, people) - chi_square(people - 2, 0, people)
    return dp.Objective(
        scores,
        dp.ElementSensitivity(
            lambda t: changes[:, min(t, HORIZON - 1)],
            bound,
            dp.Neighbours.SUBSTITUTE,
            horizon=HORIZON,
        ),
        highest=float(people),
        direction="non-decreasing",
    )


def noisy_counts(counts: Indices, people: int, epsilon: float, rng: Rng) -> Indices:
    """Return the variants of the largest chi-square of noisy counts, of all draws."""
    group, drawn = people // 2, []
    for _ in range(DRAWS[len(counts)]):
        noisy = counts + rng.laplace(scale=2 * len(counts) / epsilon, size=counts.shape)
        two = noisy[:, 1::2].clip(0, group)
        x, y = (noisy[:, ::2].clip(0, group) + 2 * two).clip(0, people).T
        with np.errstate(all="ignore"):
            score = 2 * (x - y) ** 2 / ((x + y) * (2 - (x + y) / people))
        drawn.append(np.argpartition(-np.nan_to_num(score), K)[:K])
    return np.array(drawn)


def methods(counts: Indices, people: int) -> Iterator[tuple[str, str, Draws]]:
    """Return every score and mechanism, with the variants that they draw."""

    def drawing(objective: dp.Objective, kind: type[dp.Mechanism]) -> Draws:
        return lambda epsilon, rng: kind(epsilon=epsilon).simulate(
            objective, K, size=DRAWS[len(counts)], rng=rng
        )

    group = people // 2
    asked = dp.TopVariants(variants=len(counts), cases=group, controls=group, k=K, epsilon=1.0)
    distance = asked.objective(counts)
    kinds: Sequence[type[dp.Mechanism]]
    kinds = (dp.PermuteAndFlip, dp.ExponentialMechanism)
    for kind in kinds:
        yield "people", kind.name, drawing(distance, kind)
    if len(counts) == FEW:
        chi = by_chi_square(counts, people)
        dampened: Sequence[type[dp.Mechanism]] = (
            dp.PermuteAndFlip,
            dp.LocalDampening,
            dp.ShiftedLocalDampening,
            dp.AnchoredLocalDampening,
            dp.PairwiseLocalDampening,
        )
        for other in dampened:
            yield "chi-square", other.name, drawing(chi, other)
    yield "noisy counts", "laplace", lambda e, rng: noisy_counts(counts, people, e, rng)


def recalls(people: int, variants: int, seed: int) -> Iterator[tuple[str, str, float, float]]:
    """Return the recall of every method and epsilon on one cohort."""
    rng = np.random.default_rng(seed)
    counts = cohort(rng, people, variants)
    copies = (counts[:, ::2] + 2 * counts[:, 1::2]).astype(float)
    x, y = copies.T
    score = 2 * (x - y) ** 2 / ((x + y) * (2 - (x + y) / people))
    top = np.argsort(-score, kind="stable")[:K]
    for name, mechanism, drawn in methods(counts, people):
        for epsilon in EPSILONS:
            share = float(np.isin(drawn(epsilon, rng), top).mean())
            yield name, mechanism, epsilon, share


def seconds() -> float:
    """Return the time of a real release of a million variants, its scores included."""
    counts = cohort(np.random.default_rng(0), 10_000, ALL)
    query = dp.TopVariants(variants=ALL, cases=5_000, controls=5_000, k=K, epsilon=1.0)
    query.objective(counts[:10].repeat(ALL // 10, axis=0))
    start = perf_counter()
    query.release(counts)
    return perf_counter() - start


def plot(rows: list[dict[str, object]]) -> None:
    """Draw recall by epsilon."""
    from matplotlib.figure import Figure

    shown = {
        ("people", "permute-and-flip"): "people to significance (TopVariants)",
        ("chi-square", "anchored"): "chi-square, local sensitivity, anchored",
        ("chi-square", "pairwise"): "chi-square, local sensitivity, pairwise",
        ("chi-square", "local-dampening"): "chi-square, local sensitivity, dampened",
        ("chi-square", "permute-and-flip"): "chi-square, global sensitivity",
        ("noisy counts", "laplace"): "noisy counts",
    }
    figure = Figure(figsize=(5.6, 5.2), layout="constrained")
    for axes, people in zip(figure.subplots(1, 2, sharey=True), ODDS, strict=True):
        for (score, mechanism), label in shown.items():
            found = [
                (row["epsilon"], row["recall"])
                for row in rows
                if (row["people"], row["variants"]) == (people, FEW)
                and (row["score"], row["mechanism"]) == (score, mechanism)
            ]
            axes.plot(*zip(*found, strict=True), "o-", markersize=3, label=label)
        axes.set(title=f"{people:,} people", xlabel="epsilon", ylim=(0, 1.03))
    figure.axes[0].set_ylabel("recall of the top 10")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center")
    figure.savefig(PICTURE, dpi=100)


def main() -> None:
    """Measure all methods and write what was found."""
    for group in (3, 6):
        check_local_sensitivities(group)
    rows: list[dict[str, object]] = []
    for people, variants in product(ODDS, DRAWS):
        found: dict[tuple[str, str, float], list[float]] = defaultdict(list)
        for seed in range(COHORTS):
            for score, mechanism, epsilon, share in recalls(people, variants, seed):
                found[score, mechanism, epsilon].append(share)
                print(people, variants, score, mechanism, epsilon, share, flush=True)
        for (score, mechanism, epsilon), shares in found.items():
            values = (people, variants, score, mechanism, epsilon, f"{np.mean(shares):.3f}")
            rows.append(dict(zip(COLUMNS, values, strict=True)))
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        row["recall"] = float(str(row["recall"]))
    plot(rows)
    print(f"{ALL:,} variants: {seconds():.1f} s, {platform.processor()}")


if __name__ == "__main__":
    main()
