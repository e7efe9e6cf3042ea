"""Accuracy of mechanisms: error bounds that hold on all data, and exact comparisons.

A comparison uses the exact laws, or simulations where it says so. It reads the scores without
noise, so its result is as private as they are: choose a mechanism on public data of the same
kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from fractions import Fraction
from itertools import cycle
from math import ceil, comb, exp, inf, log, log1p
from typing import TYPE_CHECKING

import numpy as np

from dpselect import _validate
from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, NoisySequence
from dpselect.mechanisms.base import checked_k
from dpselect.objective import Objective
from dpselect.plan import ErrorBound
from dpselect.typing import Scores

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Expected errors and probabilities of the best; as private as the scores.

    Attributes:
        rows: One per mechanism and epsilon, in the order given.
        k: How many candidates a release has.
        uniform: What a uniform choice of ``k`` candidates has, for comparison.

    ``print`` shows them as a table.
    """

    rows: tuple[Row, ...]
    k: int = 1
    uniform: Row | None = None

    def __str__(self) -> str:
        head, *lines = self._cells()
        widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
        table = []
        for name, *numbers in (head, *lines):
            cells = [name.ljust(widths[0])]
            cells += [one.rjust(wide) for one, wide in zip(numbers, widths[1:], strict=True)]
            table.append("  ".join(cells).rstrip())
        simulated = {row.simulations for row in self.rows} - {0}
        notes = [f"*: simulated {number} times" for number in sorted(simulated)]
        return "\n".join([*table, *notes])

    def to_latex(self) -> str:
        """Return the table as a LaTeX ``tabular``, with the rules of ``booktabs``."""
        head, *lines = self._cells()
        body = [" & ".join(line) + r" \\" for line in lines]
        columns = "l" + "r" * (len(head) - 1)
        table = [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(table)

    def _cells(self) -> list[list[str]]:
        """Return the head and the rows of the printed table, the uniform choice last."""
        several = self.k > 1
        head = ["mechanism", "epsilon", "gap" if several else "expected error"]
        head += ["recall", f"P(best {self.k})"] if several else ["P(best)"]
        lines = [[*head, "rho"]]
        for row in self.rows if self.uniform is None else (*self.rows, self.uniform):
            paid = row is not self.uniform
            numbers = [row.recall, row.best] if several else [row.best]
            lines.append(
                [
                    row.mechanism + ("*" if row.simulations else ""),
                    f"{row.epsilon:g}" if paid else "",
                    f"{row.expected_error:.4g}",
                    *(f"{number:.3f}" for number in numbers),
                    f"{row.rho:.3g}" if paid else "",
                ]
            )
        return lines

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        needed("polars", extra="standard")
        import polars as pl

        return pl.DataFrame(
            [astuple(row) for row in self.rows],
            schema=[field.name for field in fields(Row)],
            orient="row",
        )

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw both columns against epsilon, one line per mechanism.

        Args:
            axes: Two axes to draw into; a new figure if not given.

        Returns:
            The axes of the expected error and of the probability of the best.
        """
        needed("matplotlib", extra="standard")
        from matplotlib import pyplot as plt

        if axes is None:
            axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")[1]
        labels = dict.fromkeys(row.mechanism for row in self.rows)
        markers = cycle("osD^vP*X")
        for label, marker in zip(labels, markers, strict=False):
            rows = sorted(
                (row for row in self.rows if row.mechanism == label),
                key=lambda row: row.epsilon,
            )
            epsilons = [row.epsilon for row in rows]
            axes[0].plot(
                epsilons, [row.expected_error for row in rows], marker=marker, label=label
            )
            axes[1].plot(epsilons, [row.best for row in rows], marker=marker, label=label)
        axes[0].set(xlabel="epsilon", ylabel="expected error (score units)", xscale="log")
        best = "P(best)" if self.k == 1 else f"P(the best {self.k})"
        axes[1].set(xlabel="epsilon", ylabel=best, xscale="log")
        axes[1].set_ylim(bottom=0)
        axes[0].legend(fontsize="small")
        return axes


def compare(
    objective: Objective,
    mechanisms: Iterable[Mechanism],
    epsilons: Iterable[float] | None = None,
    *,
    k: int = 1,
    simulations: int = 1000,
    rng: np.random.Generator | None = None,
) -> Comparison:
    """Compare mechanisms on one objective by their exact laws, or by simulations.

    One candidate, and several by a :class:`~dpselect.NoisySequence` whose law is feasible, are
    compared exactly; rounds of other mechanisms are simulated. Each row says which.

    Args:
        objective: Public or synthetic scores; the result is as private as they are.
        mechanisms: At least one.
        epsilons: Compare each mechanism at each of these; at its own if not given.
        k: How many candidates a release has; 1 to ``n``.
        simulations: How often a release is simulated where its law is not computed; >= 1.
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
        mechanism         epsilon  expected error  P(best)    rho
        permute-and-flip        1          0.5055    0.656  0.368
        permute-and-flip        4          0.0683    0.932   3.02
        uniform choice                      1.667    0.333
    """
    _validate.instance("objective", objective, Objective)
    k = checked_k(k, objective)
    simulations = _validate.at_least("simulations", simulations, 1)
    chosen = list(mechanisms)
    if not chosen:
        raise ParameterError("give at least one mechanism to compare")
    for mechanism in chosen:
        _validate.instance("each of mechanisms", mechanism, Mechanism)
    if epsilons is not None:
        levels = list(epsilons)
        chosen = [replace(one, epsilon=level) for one in chosen for level in levels]
    uniform = _uniform(objective.scores, k)
    if k == 1:
        rows = tuple(_row_of_one(objective, mechanism) for mechanism in chosen)
        return Comparison(rows, uniform=uniform)
    rng = np.random.default_rng(0) if rng is None else rng
    several = (_row_of_several(objective, one, k, simulations, rng) for one in chosen)
    return Comparison(tuple(several), k, uniform)


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


def _row_of_one(objective: Objective, mechanism: Mechanism) -> Row:
    gaps = objective.scores.max() - objective.scores
    law = mechanism.probabilities(objective)
    best = float(law[gaps == 0].sum())
    rho = _rho(objective, mechanism, 1)
    return Row(mechanism.label, mechanism.epsilon, float(law @ gaps), best, rho, best)


def _rho(objective: Objective, mechanism: Mechanism, k: int) -> float:
    return mechanism.for_objective(objective).spend("", k).rho_of_all


def _row_of_several(
    objective: Objective,
    mechanism: Mechanism,
    k: int,
    simulations: int,
    rng: np.random.Generator,
) -> Row:
    scores, rho = objective.scores, _rho(objective, mechanism, k)
    top = np.partition(scores, scores.size - k)[scores.size - k :]
    last = float(top.min())
    right = scores >= last
    # Where candidates tie for the last places, the recall is no sum of probabilities.
    if isinstance(mechanism, NoisySequence) and int(right.sum()) == k:
        law = mechanism.inclusion(objective, k)
        if law is not None:
            gap = float(top.mean() - law @ scores / k)
            best = mechanism.set_probability(objective, right)
            recall = float(law[right].sum() / k)
            return Row(mechanism.label, mechanism.epsilon, gap, best, rho, recall)
    drawn = scores[mechanism.simulate(objective, k, size=simulations, rng=rng).indices]
    places = k - int((scores > last).sum())
    hits = ((drawn > last).sum(axis=1) + np.minimum((drawn == last).sum(axis=1), places)) / k
    return Row(
        mechanism.label,
        mechanism.epsilon,
        float(top.mean() - drawn.mean()),
        float((hits == 1).mean()),
        rho,
        float(hits.mean()),
        simulations,
    )


def count_error(scale: float, unit: str, probability: float = 0.95) -> ErrorBound:
    r"""Return the bound on the discrete Laplace noise of one count.

    With :math:`q = e^{-1/b}`, :math:`P(|Z| > t) = 2 q^{t + 1}/(1 + q)` for integers
    :math:`t \ge 0`.

    Args:
        scale: :math:`b`.
        unit: What is counted.
        probability: Of noise of at most the bound; in (0, 1).
    """
    log_two_over = log(2) - log1p(exp(-1 / scale)) - log1p(-probability)
    most = max(ceil(scale * log_two_over) - 1, 0)
    return ErrorBound(float(most), unit, probability)


def error_bound(
    mechanism: Mechanism,
    *,
    candidates: int,
    bound: float,
    unit: str,
    attained: float | None = None,
    largest: float = inf,
    probability: float = 0.95,
) -> ErrorBound:
    r"""Return an error that a draw of one candidate does not exceed, on any data.

    The error is the best score less the drawn one. A candidate whose unit score is ``g``
    below the best is drawn with probability at most :math:`e^{-\varepsilon g/2}`, so none of
    the ``n`` is drawn from more than :math:`(2/\varepsilon) \ln(n/\beta)` below with
    probability :math:`1 - \beta`; :meth:`Mechanism.gap_per_unit` converts this to scores.
    The objective is assumed not to be monotone.

    Args:
        mechanism: The mechanism with its epsilon.
        candidates: How many candidates ``n`` there are; >= 1.
        bound: Global sensitivity; score units, finite, > 0.
        unit: The unit of the scores, such as ``"ranks"``.
        attained: The best score, if it is the same on all data, such as 0 for a
            percentile; score units.
        largest: The largest error that there can be; score units.
        probability: Of an error of at most the bound, :math:`1 - \beta`; in (0, 1).

    Returns:
        A bound in ``unit``; infinite where none holds on all data. Public.

    Raises:
        ParameterError: An argument is out of its range.

    Source: McSherry and Talwar, FOCS 2007, Theorem 6; Dwork and Roth 2014, Theorem 3.11.
    """
    n = _validate.at_least("candidates", candidates, 1)
    bound = _validate.positive("bound", bound)
    beta = 1 - _validate.within("probability", probability, 0, 1)
    if beta in {0, 1}:
        raise ParameterError("probability must be above 0 and below 1")
    gap = mechanism.largest_gap(n, bound, beta, attained)
    return ErrorBound(gap, unit, probability, largest)
