"""The metrics by their short names."""

from __future__ import annotations

from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    AnchoredLocalDampening,
    MechanismFactory,
    ShiftedLocalDampening,
)
from dpselect.networks.betweenness import EgoBetweenness
from dpselect.networks.degree import Degree
from dpselect.networks.density import EgoDensity
from dpselect.networks.metric import Metric

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (Degree(), EgoDensity(), EgoBetweenness())
}
"""Each with its defaults."""

FROM_AFAR = {ShiftedLocalDampening.name, AnchoredLocalDampening.name}
"""Mechanisms that sum the sensitivity from the score up to the largest that can occur."""


def named(metric: str | Metric, mechanism: str | MechanismFactory | None = None) -> Metric:
    """Return a metric by its short name, in the form that suits the mechanism.

    From afar it is a sensitivity that grows with the score that tells nodes apart, so shifted
    and anchored dampening get ego betweenness in the form ``"degree"``. The choice reads no
    graph. A metric that is an object already is returned as it is.

    Raises:
        ParameterError: There is no such metric.
    """
    if not isinstance(metric, str):
        return metric
    if metric not in METRICS:
        raise ParameterError(f"metric must be one of {', '.join(METRICS)}, not {metric!r}")
    if metric == EgoBetweenness.name and mechanism in FROM_AFAR:
        return EgoBetweenness(sensitivity="degree")
    return METRICS[metric]
