"""Queries as measurements of OpenDP."""

from __future__ import annotations

from math import exp, expm1
from typing import Any

from dpselect._optional import needed
from dpselect.query import Query


def to_opendp(query: Query[Any]) -> Any:  # noqa: ANN401 -- a measurement of OpenDP
    """Return a query as a measurement of OpenDP, for its combinators and odometers.

    The measurement takes what the query reads, such as an objective for a ``Selection``, and
    returns the tuple of the answer, drawn by dpselect. Distances are neighbour steps of the
    query's relation. The map is the price: at one step epsilon (and delta), at ``k`` steps that
    of group privacy. OpenDP takes our word for it, so its feature ``honest-but-curious`` is
    enabled. No budget of ours is charged.

    Raises:
        MissingDependencyError: OpenDP is not installed.

    Examples:
        >>> import dpselect as dp
        >>> from dpselect.exchange import to_opendp
        >>> votes = dp.Objective([31, 12], dp.GlobalSensitivity(1, "add-remove"))
        >>> first = dp.Selection(
        ...     mechanism=dp.PermuteAndFlip(epsilon=0.5), k=1, neighbours="add-remove"
        ... )
        >>> measurement = to_opendp(first)
        >>> measurement.map(1), measurement(votes)[0] in {0, 1}
        (0.5, True)
    """
    opendp = needed("opendp.prelude", extra="opendp")
    opendp.enable_features("contrib", "honest-but-curious")
    plan, measure = query.plan, opendp.max_divergence()
    name = f"what a {plan.name} of dpselect reads"

    def price(steps: int) -> Any:  # noqa: ANN401 -- a number, or two
        if plan.delta == 0:
            return steps * plan.epsilon
        return steps * plan.epsilon, plan.delta * _deltas(steps, plan.epsilon)

    return opendp.m.make_user_measurement(
        opendp.user_domain(name, lambda _data: True),
        opendp.user_distance(f"steps of {plan.neighbours} neighbours"),
        measure if plan.delta == 0 else opendp.approximate(measure),
        function=lambda data: query.release(data).answer,
        privacy_map=price,
        TO="ExtrinsicObject",
    )


def _deltas(steps: int, epsilon: float) -> float:
    """Return the sum of ``exp(i epsilon)`` over the steps ``i``, from 0."""
    if epsilon == 0 or steps < 2:
        return float(steps)
    return expm1(steps * epsilon) / expm1(epsilon) if steps * epsilon < 700 else exp(700)
