"""What a fitted tree says of its own privacy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dpselect.neighbours import Neighbours


@dataclass(frozen=True)
class Spend:
    """One kind of query.

    Attributes:
        what: What was asked.
        epsilon: What one of them costs, in nats, under add/remove.
        times: How many of them a single record can be in.
    """

    what: str
    epsilon: float
    times: int


@dataclass(frozen=True)
class PrivacyReport:
    """What was spent where; public.

    Attributes:
        epsilon: The guarantee, in nats; pure differential privacy.
        neighbours: The relation it is stated for.
        spends: Under add/remove; under substitution each counts twice, because the removed
            and the added record can be in different nodes.
        public: What the caller declared public.
        composition: Why the spends add up to epsilon.
    """

    epsilon: float
    neighbours: Neighbours
    spends: tuple[Spend, ...]
    public: tuple[str, ...]
    composition: str

    @property
    def factor(self) -> int:
        """How many add/remove steps one neighbour step is."""
        return 2 if self.neighbours is Neighbours.SUBSTITUTE else 1

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain Python values."""
        return {**asdict(self), "neighbours": str(self.neighbours), "factor": self.factor}

    def __str__(self) -> str:
        lines = [f"epsilon = {self.epsilon:g}, {self.neighbours} neighbours, no delta"]
        lines += [f"  {s.times} x {s.epsilon:g}  {s.what}" for s in self.spends]
        if self.factor == 2:
            lines.append("  all doubled: one record out and one in are two steps")
        lines.append(self.composition)
        lines.append(f"taken as public: {', '.join(self.public)}")
        return "\n".join(lines)


def path_epsilon(epsilon: float, neighbours: Neighbours) -> float:
    """Return what all queries about one record may cost under add/remove.

    A substitution takes one record out of the database and puts one in: two steps, in parts
    of the tree that need not be the same.
    """
    return epsilon / 2 if neighbours is Neighbours.SUBSTITUTE else epsilon
