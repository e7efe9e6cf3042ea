"""Private subset retrieval: release the members of a set, with a few errors.

``Subset`` releases a subset near a private one, of public or of private size; ``Statuses``
flips the status of every person. The theorems are bounds on delta.
"""

from dpselect.subsets.bounds import (
    theorem_1_lower,
    theorem_1_upper,
    theorem_2_lower,
    theorem_2_upper,
)
from dpselect.subsets.statuses import Statuses
from dpselect.subsets.subset import Subset

__all__ = [
    "Statuses",
    "Subset",
    "theorem_1_lower",
    "theorem_1_upper",
    "theorem_2_lower",
    "theorem_2_upper",
]


def __dir__() -> list[str]:
    return sorted(__all__)
