"""Keys of people: the most common values of a column, and which values there are.

``TopKeys`` draws among public candidates or among the keys of the data; ``Keys`` releases the
set of keys that enough people have.
"""

from dpselect.keys.keys import Keys
from dpselect.keys.release import Chances, KeyRelease
from dpselect.keys.top import TopKeys

__all__ = [
    "Chances",
    "KeyRelease",
    "Keys",
    "TopKeys",
]


def __dir__() -> list[str]:
    return sorted(__all__)
