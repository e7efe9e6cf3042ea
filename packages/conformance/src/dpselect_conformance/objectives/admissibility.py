r"""Admissibility by enumeration: the proof of a sensitivity function on a small universe."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

import numpy as np

from dpselect import Neighbours, Objective
from dpselect.errors import ParameterError
from dpselect.extend import validation
from dpselect_conformance.objectives import conditions
from dpselect_conformance.objectives.conditions import Scaling
from dpselect_conformance.objectives.report import AdmissibilityReport, Finding, Tightness
from dpselect_conformance.objectives.universe import Relation, build, evaluate, tabulate


def check_admissible(
    objective_of: Callable[[Hashable], Objective],
    universe: Iterable[Hashable],
    neighbours: Relation,
    *,
    scalings: Mapping[str, Scaling] | None = None,
    max_distance: int | None = None,
    complete: Callable[[Hashable], bool] | None = None,
) -> AdmissibilityReport:
    """Check an objective's sensitivity and its public claims against their definitions.

    On every database, pair of neighbours, distance and candidate of the universe:

    ==========================  ===============================================================
    finding                     states
    ==========================  ===============================================================
    ``objective``               only where it fails: there is an objective of every database
    ``public parts``            candidates, bounds, l1, horizon, relation, the monotone claim,
                                the highest score, the direction and the step are the same for
                                every database, and no score is above the highest
    ``condition (i)``           ``δ(x, 0, r) ≥ LS(x, 0, r)``
    ``condition (ii)``          ``δ(x, t + 1, r) ≥ δ(y, t, r)`` for ``d(x, y) ≤ 1``
    ``bounded``                 ``δ ≤ Δ_r`` before the horizon and ``= Δ`` from there on
    ``global bound``            ``LS(x, 0, r) ≤ Δ_r``
    ``l1``                      if claimed, a neighbour step moves all scores by at most ``l1``
                                together
    ``step``                    if claimed, all scores are integer multiples of the step
    ``monotone``                if claimed, neighbour steps move all scores one way
    ``sums``                    ``cumulative``, ``shortfall``, ``locate`` and ``leading_zeros``
                                agree with ``at``
    ``unit scores: <scaling>``  no difference of two scaled scores moves by more than 2
                                (``dampened``, ``anchored``, ``pairwise``, ``generalized``: no
                                score by more than 1)
    ==========================  ===============================================================

    The local sensitivity is ``LS(x, t, r) = max |u(y, r) - u(z, r)|`` over ``y`` within
    distance ``t`` of ``x`` and neighbours ``z`` of ``y``, with the distance by neighbour steps
    *inside the universe*. That is the true distance if the universe holds a shortest path
    between any two of its databases, as "all multisets of at most n records" and "all graphs on
    n nodes" do. Databases of at most n records have neighbours outside of the universe.
    Violations that are found there are real, and only equality needs care: state by
    ``complete`` which databases have all their neighbours inside.

    A passed check is a proof for this universe only: choose one in which every case of the
    formula occurs. Conditions hold up to 1e-9 of each number that is compared.

    Args:
        objective_of: The objective of a database, such as an application's own function.
            Called once per database.
        universe: Some tens to a few thousand databases, hashable; synthetic: the report
            shows them.
        neighbours: A function ``(x, y) -> bool``, called for all pairs; or a relation or its
            name, which must be the objective's own. ``ADD_REMOVE``: tuples of
            records, order ignored, or frozensets, that differ by one record.
            ``SUBSTITUTE``: tuples of equal length that differ in one place. ``EDGE``:
            frozensets of edges that differ by one. ``SWAP``: frozensets of equal size that
            differ by one member each.
        scalings: Functions from an objective to unit scores, by name; all scalings of
            ``dpselect.scaling`` if not given (with the best score of the universe as the public
            anchor and ``t=1`` for the generalized one).
        max_distance: Check distances up to this one; >= 1; one more than the largest
            distance in the universe if not given.
        complete: Whether the universe holds all neighbours of a database. Tightness is
            judged only where it does, as far out as the distance. All if not given.

    Raises:
        ParameterError: The universe has databases of the wrong type or no neighbours, or
            an argument is out of its range.
        NeighboursError: ``neighbours`` is neither a relation nor a function.

    Source: Farias et al., VLDB J. 2023, Definitions 5 to 7 and Lemma 4.

    Examples:
        >>> import dpselect as dp
        >>> def votes(ballots):
        ...     tally = [ballots.count("a"), ballots.count("b")]
        ...     one_vote = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        ...     return dp.Objective(tally, one_vote, candidates=["a", "b"], monotone=True)
        >>> ballots = [("a",) * i + ("b",) * j for i in range(4) for j in range(4)]
        >>> dp.audit.check_admissible(votes, ballots, dp.Neighbours.ADD_REMOVE).ok
        True
    """
    space = build(universe, neighbours)
    objectives = evaluate(space, objective_of)
    distance = space.diameter + 1 if max_distance is None else max_distance
    distance = validation.at_least("max_distance", distance, 1)
    given = validation.instance("scalings", {} if scalings is None else scalings, Mapping)
    if not all(map(callable, given.values())):
        raise ParameterError("scalings must map names to functions of an Objective")
    relation = None if callable(neighbours) else Neighbours(neighbours)
    public = (
        objectives
        if isinstance(objectives, Finding)
        else conditions.public_parts(space, objectives, relation)
    )
    if isinstance(objectives, Finding) or len({len(one) for one in objectives}) > 1:
        findings: tuple[Finding, ...] = (public,)
        tightness = Tightness(0, 0, 0.0)
        skipped: tuple[str, ...] = ("all other conditions: there is no candidate to compare",)
    else:
        tables = tabulate(space, objectives, distance)
        named, skipped = given, ()
        if scalings is None:
            named, skipped = conditions.default_scalings(tables)
        findings = (
            public,
            *(condition(tables) for condition in conditions.CONDITIONS),
            *(conditions.unit_scores(tables, *one) for one in named.items()),
        )
        incomplete = [complete is not None and not complete(x) for x in space.databases]
        tightness = conditions.tightness(tables, np.array(incomplete, dtype=np.float64))
    return AdmissibilityReport(
        findings, tightness, skipped, len(space), space.left.size, distance
    )
