"""A picture of a Pareto front and of what was drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpselect.combine.aligned import aligned
from dpselect.combine.pareto.score import pareto_front
from dpselect.errors import ParameterError
from dpselect.objective import Objective

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_front(
    objectives: Sequence[Objective],
    drawn: Sequence[Hashable] = (),
    axes: Axes | None = None,
) -> Axes:
    """Draw all candidates by two objectives, their Pareto front, and what was drawn.

    The picture shows every score: it is for public or synthetic data, or for the curator's
    own eyes.

    Args:
        objectives: Two, for the same candidates in the same order.
        drawn: Candidates that were drawn, such as ``release.candidates``.
        axes: Where to draw; a new figure if not given.

    Returns:
        The axes, with the first objective to the right and the second upwards.

    Raises:
        ParameterError: Not two objectives, different candidates, or one drawn that is not a
            candidate.
        NeighboursError: Different neighbour relations.
    """
    from matplotlib import pyplot as plt

    parts = aligned(objectives)
    if len(parts) != 2:
        raise ParameterError(f"a front is drawn of two objectives, not {len(parts)}")
    position = {candidate: at for at, candidate in enumerate(parts[0].candidates)}
    if not set(drawn) <= position.keys():
        raise ParameterError("drawn must hold candidates of the objectives")
    if axes is None:
        axes = plt.subplots(layout="constrained")[1]
    right, up = (part.scores for part in parts)
    front = pareto_front(parts)
    front = front[np.lexsort((-up[front], right[front]))]
    chosen = [position[candidate] for candidate in drawn]
    axes.scatter(right, up, s=8, color="0.75", label="candidates")
    axes.step(right[front], up[front], where="pre", marker="o", ms=4, label="Pareto front")
    if chosen:
        axes.scatter(right[chosen], up[chosen], marker="x", color="C3", zorder=3, label="drawn")
    axes.set(xlabel="first objective", ylabel="second objective")
    axes.legend(fontsize="small")
    return axes
