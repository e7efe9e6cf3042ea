r"""The Pareto score, how many candidates dominate each one, and a picture of its front.

Source: Farias et al., PrivPareto, section 4.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpselect.combine.fronts.dominance import Dominance, dominators
from dpselect.combine.fronts.sensitivity import ParetoSensitivity
from dpselect.combine.score_range import aligned
from dpselect.neighbours import Neighbours
from dpselect.objective import Facts, Objective
from dpselect.sensitivity import at_bound
from dpselect.typing import Indices


def pareto(
    objectives: Sequence[Objective],
    *,
    dominance: Dominance = "standard",
    horizon: int | None = None,
) -> Objective:
    """Return the Pareto score of several objectives, with its sensitivity.

        u_r = -#{r' ≠ r : r' dominates r}

    ``r'`` dominates ``r`` if it is at least as good in every objective and better in one:
    identical candidates do not dominate each other, and the score is 0 exactly on the Pareto
    front. In the paper's weak sense it need not be better in one: each of several identical
    candidates is dominated by the others. In the strict sense it is better in every one, and no
    other dominates a candidate that is best in one. PrivPareto is a mechanism on this
    objective; its global version is ``ExponentialMechanism``, its local one ``LocalDampening``.

    Guarantee:
        What the mechanism states, under the objectives' neighbour relation. Public: the
        candidates and their number, each objective's bound and horizon.

    Args:
        objectives: At least one, for the same candidates in the same order.
        dominance: ``"standard"``; ``"weak"`` as Definition 4.3 has it; or ``"strict"``, which
            the printed numbers on graphs were made with.
        horizon: Public distance from which on the sensitivity is the bound ``n - 1``; the
            largest of the objectives' horizons if not given. Only ``ShiftedLocalDampening``
            depends on it, and it is best well beyond the distances at which the counts still
            grow.

    Returns:
        Scores in ``-(n - 1), ..., 0`` with a ``ParetoSensitivity``, in O(n log n) for two
        objectives, O(n log^2 n) for three, O(n^2) for more. Its ``highest`` is 0, which the
        front attains in every database unless dominance is weak. No ``direction`` is stated:
        on many graphs the sensitivity is small at the front, where few rivals can begin to
        dominate, and there ``"non-increasing"`` helps the shifted mechanism at a small epsilon;
        on others it leaves the front at any epsilon.

    Raises:
        ParameterError: No objective, different candidates, a negative horizon, or another
            dominance.
        NeighboursError: Different neighbour relations.

    Source: Farias et al., PrivPareto, Definitions 4.3 and 4.5. As printed the candidate
        itself counts too.

    Examples:
        >>> import dpselect as dp
        >>> one = dp.GlobalSensitivity(1, dp.Neighbours.EDGE)
        >>> dp.pareto([dp.Objective([5, 9, 1], one), dp.Objective([7, 2, 1], one)]).scores
        array([ 0.,  0., -2.])
    """
    parts = aligned(objectives)
    sensitivity = ParetoSensitivity(parts, horizon, dominance=dominance)
    facts = pareto_facts(len(parts[0]), sensitivity.neighbours)
    known = replace(facts, sensitivity=sensitivity)
    return known.of(-sensitivity.dominators, parts[0].candidates)


def pareto_facts(candidates: int, neighbours: Neighbours) -> Facts:
    """Return what is public of every Pareto score."""
    return Facts(
        candidates=candidates,
        sensitivity=at_bound(max(candidates - 1, 1), neighbours=neighbours),
        highest=0.0,
    )


def pareto_front(objectives: Sequence[Objective]) -> Indices:
    """Return the positions of the candidates that no other dominates, ascending; private.

    Raises:
        ParameterError: No objective, or different candidates.
        NeighboursError: Different neighbour relations.
    """
    scores = np.stack([part.scores for part in aligned(objectives)])
    return np.flatnonzero(dominators(scores) == 0)
