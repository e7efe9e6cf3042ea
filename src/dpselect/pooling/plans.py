"""What a plan says: one option for each design, and all of them as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpselect.neighbours import Neighbours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "os^v"
"""The next one when the ten colours are used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One design, as simulated; public.

    Attributes:
        design: Its name.
        pools: Pooled tests.
        weight: The most pools that a sample is in.
        largest_pool: The most samples that are in a pool.
        flip: Chance with which each outcome is flipped for privacy; 0 without.
        epsilon: What the lab's view is private for, in nats; infinite without flips.
        delta: Beside it.
        false_positives: Expected, of the decoder's answer.
        false_negatives: Expected, of the decoder's answer.
        exact: P[everybody's answer is right].
        retests: Expected people left in doubt, to be tested one by one.
        errors_after_retests: Expected wrong answers about everybody else; what remains
            when retests are right.
    """

    design: str
    pools: int
    weight: int
    largest_pool: int
    flip: float
    epsilon: float
    delta: float
    false_positives: float
    false_negatives: float
    exact: float
    retests: float
    errors_after_retests: float

    @property
    def tests(self) -> float:
        """Pools and expected retests together."""
        return self.pools + self.retests


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolingPlan:
    """All admissible designs: fewest errors after retests first, then fewest tests in all.

    Attributes:
        n: People.
        neighbours: What one individual is, in every epsilon.
        options: One for each design.
    """

    n: int
    neighbours: Neighbours
    options: tuple[Option, ...]

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw expected errors against tests per person, one series for each design."""
        if axes is None:
            from matplotlib.figure import Figure

            axes = Figure(layout="constrained").add_subplot()
        names = sorted({option.design for option in self.options})
        for number, name in enumerate(names):
            of_name = [option for option in self.options if option.design == name]
            of_name.sort(key=lambda option: option.pools)
            errors = [o.false_positives + o.false_negatives for o in of_name]
            axes.plot(
                [o.pools / self.n for o in of_name],
                errors,
                f"{MARKERS[number // 10 % 4]}-",
                label=name,
            )
        axes.set_xlabel("pooled tests per person")
        axes.set_ylabel("expected wrong answers before retests")
        axes.set_yscale("symlog", linthresh=0.01)
        axes.legend(fontsize="small")
        return axes
