"""Picture of the probability that a key is released, by the number of people who have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpselect._optional import needed
from dpselect.typing import Indices, Probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_chances(
    people: Indices, chances: Mapping[str, Probabilities], *, ax: Axes | None = None
) -> Axes:
    """Draw probabilities of release against the number of people, one line for each method.

    Args:
        people: Shape ``(n,)``, ascending.
        chances: By a label, shape ``(n,)``; from :func:`~dpselect.categories.key_probabilities`
            or :func:`~dpselect.categories.ahead_of_stop`. Public.
        ax: Axes to draw into; a new figure if not given.
    """
    needed("matplotlib", extra="standard")
    from matplotlib import pyplot as plt

    if ax is None:
        ax = plt.subplots(layout="constrained")[1]
    for label, line in chances.items():
        ax.plot(people, line, drawstyle="steps-post", label=label)
    ax.set(xlabel="people who have the key", ylabel="P(released)", ylim=(0, 1))
    if len(chances) > 1:
        ax.legend()
    else:
        # A mechanism with its parameters is longer than the axes' free space.
        ax.set_title("".join(chances), fontsize="small", wrap=True)
    return ax
