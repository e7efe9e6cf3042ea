"""Keys of people: the most common values of a column, and which values there are.

:func:`release_top` draws among public candidates, or among whatever there is;
:func:`release_keys` releases the set of keys that enough people have.
"""

from dpselect.categories.keys import key_probabilities, plan_keys, release_keys
from dpselect.categories.objectives import STOP, Stop, ahead_of_stop
from dpselect.categories.plot import plot_chances
from dpselect.categories.release import KeyRelease
from dpselect.categories.top import plan_top, release_top

__all__ = [
    "STOP",
    "KeyRelease",
    "Stop",
    "ahead_of_stop",
    "key_probabilities",
    "plan_keys",
    "plan_top",
    "plot_chances",
    "release_keys",
    "release_top",
]


def __dir__() -> list[str]:
    return sorted(__all__)
