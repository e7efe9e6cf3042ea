"""Private subset retrieval: release who is a member, up to a few errors.

:class:`Subset` releases a subset near a private one, of public or of private size;
:class:`Statuses` flips everybody's status.
"""

from dpselect._help import clean_room
from dpselect.subsets.statuses import Statuses
from dpselect.subsets.subset import Subset

__all__ = ["Statuses", "Subset"]

clean_room(__name__)


def __dir__() -> list[str]:
    return sorted(__all__)
