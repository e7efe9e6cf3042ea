"""Private subset retrieval: release who is a member, up to a few errors.

``Subset`` releases a subset near a private one, of public or of private size; ``Statuses``
flips everybody's status.
"""

from dpselect.subsets.statuses import Statuses
from dpselect.subsets.subset import Subset

__all__ = ["Statuses", "Subset"]


def __dir__() -> list[str]:
    return sorted(__all__)
