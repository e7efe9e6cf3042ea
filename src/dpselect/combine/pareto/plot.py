"""Picture of a Pareto front and of the candidates drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpselect._optional import needed
from dpselect.combine.pareto.score import pareto_front
from dpselect.combine.score_range import aligned
from dpselect.errors import ParameterError
from dpselect.objective import Objective

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_front(
    objectives: Sequence[Objective],
    *,
    drawn: Sequence[Hashable] = (),
    ax: Axes | None = None,
) -> Axes:
    """Plot all candidates by two objectives, their Pareto front, and those drawn.

    The picture shows every score and is as private as they are.

    Args:
        objectives: Two, for the same candidates in the same order.
        drawn: Candidates that were drawn, such as ``release.answer``.
        ax: Where to draw; a new figure if not given.

    Returns:
        The axes, with the first objective to the right and the second upwards.

    Raises:
        ParameterError: Not two objectives, different candidates, or one drawn that is not a
            candidate.
        NeighboursError: Different neighbour relations.
    """
    parts = aligned(objectives)
    if len(parts) != 2:
        raise ParameterError(f"a front is drawn of two objectives, not {len(parts)}")
    position = {candidate: at for at, candidate in enumerate(parts[0].candidates)}
    if not set(drawn) <= position.keys():
        raise ParameterError("drawn must hold candidates of the objectives")
    if ax is None:
        needed("matplotlib", extra="standard")
        from matplotlib import pyplot as plt

        ax = plt.subplots(layout="constrained")[1]
    right, up = (part.scores for part in parts)
    front = pareto_front(parts)
    front = front[np.lexsort((-up[front], right[front]))]
    chosen = [position[candidate] for candidate in drawn]
    ax.scatter(right, up, s=8, color="0.75", label="candidates")
    ax.step(right[front], up[front], where="pre", marker="o", ms=4, label="Pareto front")
    if chosen:
        ax.scatter(right[chosen], up[chosen], marker="x", color="C3", zorder=3, label="drawn")
    ax.set(xlabel="first objective", ylabel="second objective")
    ax.legend(fontsize="small")
    return ax
