"""Accuracy of mechanisms: exact comparisons.

Comparisons use exact distributions, or simulations where they state it. All functions here read
scores and sensitivities without noise, so their results are as private as these: choose a
mechanism on public data of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpselect import Mechanism, NoisySequence, Objective
from dpselect.errors import ParameterError
from dpselect.extend import (
    Card,
    Dominance,
    Scores,
    Values,
    checked_k,
    lines,
    needed,
    validation,
    with_any_option,
)
from dpselect.mechanisms import MechanismLike

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Row:
    """One mechanism at one epsilon.

    Attributes:
        mechanism: The mechanism's label.
        epsilon: Epsilon of one release, in nats.
        expected_error: Mean of ``max(scores) - scores[drawn]``, in score units; for ``k``
            candidates, by how much the mean score of the drawn ones is below that of the
            ``k`` best.
        best: Probability that a candidate of the best score is drawn; for ``k`` candidates,
            that the ``k`` drawn ones are ``k`` best ones, in any order.
        rho: What one release costs under zCDP, which is what many releases are added up by.
        recall: Mean share of the ``k`` best that are drawn; of candidates that tie for the
            last places, as many count as there are places.
        simulations: How often the release was simulated; 0 if the numbers are exact.
    """

    mechanism: str
    epsilon: float
    expected_error: float
    best: float
    rho: float
    recall: float
    simulations: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Card):
    """Expected errors and probabilities of the best; as private as the scores.

    Attributes:
        rows: One per mechanism and epsilon, in the order given.
        k: Number of candidates in a release.
        uniform: The row of a uniform choice of ``k`` candidates, for comparison.

    ``print`` shows them as a table.
    """

    rows: tuple[Row, ...]
    k: int = 1
    uniform: Row | None = None

    def __repr__(self) -> str:
        mechanisms, epsilons = (
            len(dict.fromkeys(getattr(row, name) for row in self.rows))
            for name in ("mechanism", "epsilon")
        )
        return f"<Comparison of {mechanisms} mechanisms at {epsilons} epsilons, k={self.k}>"

    def __str__(self) -> str:
        rows = self.rows if self.uniform is None else (*self.rows, self.uniform)
        several = self.k > 1
        columns: dict[str, list[object]] = {
            "mechanism": [row.mechanism + ("*" if row.simulations else "") for row in rows],
            "epsilon": [row.epsilon for row in rows],
            "gap" if several else "expected error": [
                float(f"{row.expected_error:.4g}") for row in rows
            ],
        }
        if several:
            columns["recall"] = [round(row.recall, 3) for row in rows]
        columns[f"P(best {self.k})" if several else "P(best)"] = [
            round(row.best, 3) for row in rows
        ]
        columns["rho"] = [float(f"{row.rho:.3g}") for row in rows]
        numbers = sorted({row.simulations for row in self.rows} - {0})
        simulated = ", ".join(f"simulated {number} times" for number in numbers)
        return "\n".join([*lines(columns), *([f"*: {simulated}"] if simulated else [])])

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars frame.

        Raises:
            MissingDependencyError: polars is not installed.
        """
        needed("polars", extra="standard")
        import polars as pl

        return pl.DataFrame(
            [astuple(row) for row in self.rows],
            schema=[field.name for field in fields(Row)],
            orient="row",
        )


def compare(
    objective: Objective,
    mechanisms: Iterable[Mechanism | MechanismLike],
    epsilons: Iterable[float] | None = None,
    *,
    k: int = 1,
    simulations: int = 1000,
    rng: np.random.Generator | None = None,
) -> Comparison:
    """Compare mechanisms on one objective by their exact distributions, or by simulations.

    Releases of one candidate, and of several by a ``NoisySequence`` if its distribution is
    feasible, are compared exactly; rounds of other mechanisms are simulated. Each row states
    which.

    Args:
        objective: Public or synthetic scores; the result is as private as they are.
        mechanisms: At least one; by its short name, if ``epsilons`` are given.
        epsilons: Compare each mechanism at each of these; at its own if not given.
        k: Number of candidates in a release; 1 to ``n``.
        simulations: Number of simulated releases where the distribution is not computed; >= 1.
        rng: The generator for these; one with the seed 0 if not given.

    Raises:
        ParameterError: No mechanism, an epsilon that is not finite and > 0, or ``k`` or
            ``simulations`` out of its range.

    Examples:
        >>> import dpselect as dp
        >>> objective = dp.Objective(
        ...     [1.0, 5.0, 4.0], dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        ... )
        >>> table = dp.compare(objective, [dp.PermuteAndFlip(epsilon=1.0)], [1.0, 4.0])
        >>> [round(row.expected_error, 3) for row in table.rows]
        [0.506, 0.068]
        >>> print(table)
        mechanism         epsilon  expected error  P(best)   rho
        permute-and-flip        1          0.5055    0.656  0.33
        permute-and-flip        4          0.0683    0.932  2.55
        uniform choice          0           1.667    0.333     0
    """
    validation.instance("objective", objective, Objective)
    k = checked_k(k, objective)
    simulations = validation.at_least("simulations", simulations, 1)
    levels: list[float | None] = [None] if epsilons is None else list(epsilons)
    chosen = [_at(one, level) for one in mechanisms for level in levels]
    validation.some("mechanisms", chosen)
    rng = np.random.default_rng(0) if rng is None else rng
    rows = tuple(_row(objective, one, k, simulations, rng) for one in chosen)
    return Comparison(rows, k, _uniform(objective.scores, k))


def _at(mechanism: MechanismLike | Mechanism, epsilon: float | None) -> Mechanism:
    """Return a mechanism at an epsilon, or at its own."""
    if epsilon is None or isinstance(mechanism, Mechanism):
        made = validation.instance("each of mechanisms", mechanism, Mechanism)
        return made if epsilon is None else replace(made, epsilon=epsilon)
    return with_any_option(mechanism, epsilon)


def _uniform(scores: Scores, k: int) -> Row:
    """Return what ``k`` uniformly drawn candidates have."""
    n = scores.size
    top = np.partition(scores, n - k)[n - k :]
    above, tied = (int(one.sum()) for one in (scores > top.min(), scores == top.min()))
    places = k - above
    # Of the tied ones that are drawn as many count as there are places.
    ways = [comb(tied, j) * comb(n - tied, k - j) for j in range(min(tied, k) + 1)]
    hits = above * k / n
    hits += float(sum(Fraction(min(j, places) * way, comb(n, k)) for j, way in enumerate(ways)))
    best = float(Fraction(comb(tied, places), comb(n, k)))
    return Row("uniform choice", 0.0, float(top.mean() - scores.mean()), best, 0.0, hits / k)


def _row(
    objective: Objective,
    mechanism: Mechanism,
    k: int,
    simulations: int,
    rng: np.random.Generator,
) -> Row:
    scores, law = objective.scores, None
    top = np.partition(scores, scores.size - k)[scores.size - k :]
    last = float(top.min())
    right = scores >= last
    rho = mechanism.for_objective(objective).spend("", k).rho_of_all
    if k == 1:
        law = mechanism.probabilities(objective)
    elif isinstance(mechanism, NoisySequence) and int(right.sum()) == k:
        # Where candidates tie for the last places, the recall is no sum of probabilities.
        law = mechanism.inclusion(objective, k)
    if law is None:
        drawn = scores[mechanism.simulate(objective, k, size=simulations, rng=rng)]
        hits = (drawn > last).sum(axis=1)
        hits += np.minimum((drawn == last).sum(axis=1), k - int((scores > last).sum()))
        gap, best, recall = top.mean() - drawn.mean(), (hits == k).mean(), hits.mean() / k
    else:
        gap, recall, simulations = law @ (top.mean() - scores) / k, law[right].sum() / k, 0
        best = recall
        if isinstance(mechanism, NoisySequence) and k > 1:
            best = mechanism.set_probability(objective, right)
    return Row(
        mechanism.label,
        mechanism.epsilon,
        float(gap),
        float(best),
        rho,
        float(recall),
        simulations,
    )


def coverage(a: ArrayLike, b: ArrayLike, *, dominance: Dominance = "weak") -> float:
    """Return the share of the points of ``b`` that some point of ``a`` dominates.

        C(A, B) = |{b ∈ B : ∃ a ∈ A, a ⪰ b}| / |B|

    With ``a`` the true best candidates and ``b`` those drawn, 0 is best: no drawn candidate is
    dominated by a true one. A point that is in both sets covers itself only in the weak sense.
    ``C(A, B) + C(B, A)`` need not be 1. It is as private as the scores.

    Args:
        a: Shape ``(p, m)``: one row per candidate, one score per objective, larger is better.
        b: Shape ``(q, m)``.
        dominance: ``"weak"``: at least as good in every objective, as metric C is defined;
            ``"standard"``: and better in one; ``"strict"``: better in every one, as in the
            published code of PrivPareto.

    Raises:
        ParameterError: A set has no point, or points of another number of objectives, or
            there is no such dominance.

    Source: Zitzler and Thiele, IEEE TEVC 3 (1999); Farias et al., PrivPareto, Definition 6.3.

    Examples:
        >>> from dpselect_planner import coverage
        >>> coverage([[2, 2]], [[1, 2], [2, 2], [3, 0]])
        0.666...
        >>> coverage([[2, 2]], [[1, 2], [2, 2], [3, 0]], dominance="standard")
        0.333...
    """
    kind = validation.one_of("dominance", dominance, Dominance)
    ours, theirs = _points("a", a)[:, None], _points("b", b)[None]
    if ours.shape[2] != theirs.shape[2]:
        raise ParameterError("`a` and `b` must be scores by the same objectives")
    at_least, better = (ours >= theirs).all(axis=2), ours > theirs
    covering = {
        "weak": at_least,
        "standard": at_least & better.any(axis=2),
        "strict": better.all(axis=2),
    }
    return float(covering[kind].any(axis=0).mean())


def _points(name: str, given: ArrayLike) -> Values:
    points = validation.floats(f"rows of `{name}`", given)
    if points.ndim != 2 or points.size == 0:
        raise ParameterError(
            f"`{name}` must be a row of scores for each of at least one candidate"
        )
    return points
