"""Private subset retrieval: release the members of a set, with a few errors.

``Subset`` releases a subset near a private one, of public or of private size; ``Statuses``
flips the status of every person.
"""

from dpselect.subsets.statuses import Statuses
from dpselect.subsets.subset import Subset

__all__ = ["Statuses", "Subset"]


def __dir__() -> list[str]:
    return sorted(__all__)
