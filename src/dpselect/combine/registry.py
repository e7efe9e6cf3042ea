"""Names of the combinations, as the command line, the applications and the docs have them."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from numpy.typing import ArrayLike

from dpselect import validation
from dpselect.combine.fronts.dominance import Dominance, checked_dominance
from dpselect.combine.fronts.score import pareto, pareto_facts
from dpselect.combine.margins import margin, margin_facts
from dpselect.combine.sums import weighted, weighted_sum, weighted_sum_facts
from dpselect.mechanisms import LocalDampening, PairwiseLocalDampening, PermuteAndFlip
from dpselect.objective import Facts, Objective

COMBINATIONS: Mapping[str, Callable[..., Objective]] = MappingProxyType(
    {"pareto": pareto, "weighted-sum": weighted_sum, "margin": margin}
)
"""Every combination by its short name."""

UNITS = MappingProxyType(
    {
        "pareto": "dominating {}",
        "weighted-sum": "units of the weighted sum",
        "margin": "steps of the margin",
    }
)
"""Unit of the scores of each, to be filled in with what candidates are."""


def by_name(
    name: str,
    objectives: Sequence[Objective],
    weights: ArrayLike | None = None,
    *,
    dominance: Dominance = "standard",
) -> Objective:
    """Return several objectives combined into one, by the name of the combination.

    Guarantee:
        As for the combination. Public: the name, the weights and what is public of each
        objective.

    Args:
        name: A key of ``COMBINATIONS``.
        objectives: At least one, for the same candidates in the same order.
        weights: One finite number per objective, not all 0; 1 each if not given. A negative
            one makes smaller scores better; an objective of weight 0 is left out. The Pareto
            score and the margin depend on the signs alone. Public.
        dominance: As for ``pareto``; only for that combination.

    Raises:
        ParameterError: No such name, no objective, different candidates, weights that are not
            one finite number per objective or all 0, or a dominance that does not exist or does
            not suit the combination.
        NeighboursError: Different neighbour relations.

    Examples:
        >>> import dpselect as dp
        >>> one = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)
        >>> parts = [dp.Objective([5, 9, 1], one), dp.Objective([7, 2, 1], one)]
        >>> by_name("weighted-sum", parts, [2, 1]).scores
        array([17., 20.,  3.])
        >>> by_name("pareto", parts).scores
        array([ 0.,  0., -2.])
    """
    validation.one_of("combine", name, COMBINATIONS)
    kind = checked_dominance(dominance, name, of="combine")
    combination = COMBINATIONS[name]
    if combination is weighted_sum:
        factors = [1.0] * len(objectives) if weights is None else weights
        return weighted_sum(objectives, factors)
    signed = objectives if weights is None else weighted(objectives, weights)
    return pareto(signed, dominance=kind) if combination is pareto else combination(signed)


def mechanism_for(name: str | None, dominance: Dominance, *, rounds: bool) -> str:
    """Return the short name of the mechanism that suits a combination.

    It puts the best candidate first on all data, at a large epsilon. Of a front plain dampening
    does, and draws it by its lead at any epsilon; of candidates that are dominated it may
    prefer those of large sensitivities.

    Args:
        name: A key of ``COMBINATIONS``, or None.
        dominance: As for ``by_name``.
        rounds: Whether each draw is among candidates of which some are on the front, as is one.
    """
    if name != "pareto":
        return PermuteAndFlip.name
    fronts = rounds and dominance != "weak"
    return LocalDampening.name if fronts else PairwiseLocalDampening.name


def facts_of(name: str, parts: Sequence[Facts], weights: ArrayLike | None = None) -> Facts:
    """Return what is public of a combination of objectives of which these are the facts.

    Args:
        name: A key of ``COMBINATIONS``.
        parts: As ``objectives`` of ``by_name``.
        weights: Likewise.

    Raises:
        ParameterError: As for ``by_name``.
    """
    summed = weighted_sum_facts(parts, [1.0] * len(parts) if weights is None else weights)
    if name == "weighted-sum":
        return summed
    stated = pareto_facts if name == "pareto" else margin_facts
    return stated(len(summed), summed.sensitivity.neighbours)
