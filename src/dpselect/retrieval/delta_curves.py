"""Delta as a function of the allowed number of errors beta, by scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpselect._optional import needed
from dpselect.retrieval import bounds
from dpselect.retrieval.subset import SubsetRetrieval
from dpselect.typing import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 60


def delta_curves(n: int, d: int, *, epsilon: float) -> tuple[Values, dict[str, Values]]:
    """Return the betas, at most 61 of them, and delta by scheme at ``epsilon``; public.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        epsilon: In nats, under ``SWAP``; 0 to 1000.

    Returns:
        Shape ``(betas,)``, and an array of that shape for each name of a curve.
    """
    most = min(d, n - d)
    betas = np.unique(np.linspace(0, most, min(most, POINTS) + 1).astype(np.int64))
    curves = {
        "lower bound": [bounds.theorem_1_lower(n, d, int(b), epsilon=epsilon) for b in betas],
        "optimal": [bounds.optimal_delta(n, d, int(b), epsilon=epsilon) for b in betas],
        "ball (A1)": [
            SubsetRetrieval(n=n, d=d, beta=int(b), epsilon=0, scheme="ball").delta(epsilon)
            for b in betas
        ],
        "upper bound of Theorem 1": [bounds.theorem_1_upper(n, d, int(b)) for b in betas],
        "union (A2)": [bounds.theorem_2_upper(n, d, int(b)) for b in betas],
    }
    return betas.astype(np.float64), {
        name: np.array(values, dtype=np.float64) for name, values in curves.items()
    }


def plot_delta(n: int, d: int, *, epsilon: float, ax: Axes | None = None) -> Axes:
    """Draw :func:`delta_curves`.

    Args:
        n: Number of people.
        d: Number of members, 1 to ``n - 1``.
        epsilon: In nats, under ``SWAP``; 0 to 1000.
        ax: Axes to draw into; those of a new figure if not given.
    """
    if ax is None:
        needed("matplotlib", extra="standard")
        from matplotlib.figure import Figure

        ax = Figure(layout="constrained").add_subplot()
    betas, curves = delta_curves(n, d, epsilon=epsilon)
    for name, deltas in curves.items():
        ax.plot(betas, deltas, label=name, linestyle=":" if "bound" in name else "-")
    ax.set_xlabel("beta: errors allowed (swaps; union: strangers added)")
    ax.set_ylabel(f"delta at epsilon = {epsilon:g}")
    ax.set_title(f"{d} of {n} people")
    ax.legend()
    return ax
