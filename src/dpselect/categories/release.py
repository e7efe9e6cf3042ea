"""Chosen keys, with noisy counts where these were paid for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from dpselect.release import Release


@dataclass(frozen=True, slots=True)
class KeyRelease(Release):
    """A release of keys; with groups, of pairs of a group and a key.

    Attributes:
        counts: Noisy numbers of people, one for each key of ``answer``; or None.
        scale: Of the noise of the counts; or None.
        refunded: What the answer did not cost of the plan's epsilon, in nats.
        groups: The groups that were released, where they were not public; or None.
    """

    counts: tuple[int, ...] | None = None
    scale: float | None = None
    refunded: float = 0.0
    groups: tuple[Hashable, ...] | None = None

    @property
    def by_group(self) -> Mapping[Hashable, tuple[Hashable, ...]]:
        """The keys of each group that has any, or that was released."""
        found: dict[Hashable, tuple[Hashable, ...]] = dict.fromkeys(self.groups or (), ())
        for pair in self.answer:
            if isinstance(pair, tuple):
                found[pair[0]] = (*found.get(pair[0], ()), pair[1])
        return found

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        counts = None if self.counts is None else list(self.counts)
        groups = {} if self.groups is None else {"groups": list(self.groups)}
        # A dataclass with slots is made twice, which a bare super() does not see.
        return {
            **Release.released(self),
            "counts": counts,
            "scale_of_counts": self.scale,
            "refunded": self.refunded,
            **groups,
        }
