"""Accuracy of mechanisms: error bounds that hold on all data, and exact comparisons.

A comparison uses the exact laws and draws nothing. It reads the scores without noise, so its
result is as private as they are: choose a mechanism on public data of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import cycle
from math import log
from typing import TYPE_CHECKING

from dpselect import _validate
from dpselect._optional import needed
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism
from dpselect.objective import Objective
from dpselect.plan import ErrorBound

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Row:
    """One mechanism at one epsilon.

    Attributes:
        mechanism: The mechanism's label.
        epsilon: Epsilon of one release, in nats.
        expected_error: Exact mean of ``max(scores) - scores[drawn]``, in score units.
        best: Exact probability that a candidate of the best score is drawn.
        rho: What one release costs under zCDP, which is what many releases are added up by.
    """

    mechanism: str
    epsilon: float
    expected_error: float
    best: float
    rho: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Exact expected errors and probabilities of the best; as private as the scores.

    Attributes:
        rows: One per mechanism and epsilon, in the order given.
    """

    rows: tuple[Row, ...]

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        needed("polars", extra="standard")
        import polars as pl

        return pl.DataFrame(
            [astuple(row) for row in self.rows],
            schema=["mechanism", "epsilon", "expected_error", "best", "rho"],
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
        axes[1].set(xlabel="epsilon", ylabel="P(best)", xscale="log")
        axes[1].set_ylim(bottom=0)
        axes[0].legend(fontsize="small")
        return axes


def compare(
    objective: Objective,
    mechanisms: Iterable[Mechanism],
    epsilons: Iterable[float] | None = None,
) -> Comparison:
    """Compare mechanisms on one objective by their exact laws.

    Args:
        objective: Public or synthetic scores; the result is as private as they are.
        mechanisms: At least one.
        epsilons: Compare each mechanism at each of these; at its own if not given.

    Raises:
        ParameterError: No mechanism, or an epsilon that is not finite and > 0.

    Examples:
        >>> import dpselect as dp
        >>> objective = dp.Objective(
        ...     [1.0, 5.0, 4.0], dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        ... )
        >>> table = dp.compare(objective, [dp.PermuteAndFlip(epsilon=1.0)], [1.0, 4.0])
        >>> [round(row.expected_error, 3) for row in table.rows]
        [0.506, 0.068]
    """
    chosen = list(mechanisms)
    if not chosen:
        raise ParameterError("give at least one mechanism to compare")
    for mechanism in chosen:
        _validate.instance("each of mechanisms", mechanism, Mechanism)
    if epsilons is not None:
        levels = list(epsilons)
        chosen = [replace(one, epsilon=level) for one in chosen for level in levels]
    return Comparison(tuple(_row(objective, mechanism) for mechanism in chosen))


def _row(objective: Objective, mechanism: Mechanism) -> Row:
    gaps = objective.scores.max() - objective.scores
    law = mechanism.probabilities(objective)
    return Row(
        mechanism=mechanism.label,
        epsilon=mechanism.epsilon,
        expected_error=float(law @ gaps),
        best=float(law[gaps == 0].sum()),
        rho=mechanism.draws_by.rho(mechanism.epsilon),
    )


def error_bound(
    mechanism: Mechanism,
    *,
    candidates: int,
    bound: float,
    unit: str,
    attained: float | None = None,
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
    gap = mechanism.gap_per_unit(attained) * bound
    return ErrorBound(gap * 2 / mechanism.epsilon * log(n / beta), unit, probability)
