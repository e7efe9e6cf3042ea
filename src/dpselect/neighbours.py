"""Neighbour relations: the pairs of databases that a guarantee is about.

An epsilon has no meaning without this relation. It bounds the change of a release's
distribution between two *neighbouring* databases, so the relation defines what one individual
is.
"""

from enum import Enum
from typing import Literal, NoReturn, TypeAlias

from dpselect.errors import NeighboursError, nearest


class Neighbours(Enum):
    """The neighbour relation that a guarantee is stated for.

    Every public function takes a relation or its name.

    Raises:
        NeighboursError: There is no relation of that name.

    Examples:
        >>> Neighbours("add-remove") is Neighbours.ADD_REMOVE
        True
    """

    ADD_REMOVE = "add-remove"
    """One record more or less; the number of records is private."""

    SUBSTITUTE = "substitute"
    """One record replaced; the number of records is public."""

    EDGE = "edge"
    """One edge of a graph more or less; the node set is public."""

    SWAP = "swap"
    """One member of a subset exchanged for a non-member; the subset's size is public."""

    __hash__ = object.__hash__  # as fast as comparing: each relation is one object

    def __str__(self) -> str:
        return self.value

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        names = [one.value for one in cls]
        meant = nearest(value, names) if isinstance(value, str) else ""
        raise NeighboursError(
            "`neighbours` must be 'add-remove' (one record more or less), 'substitute' (one "
            "record replaced), 'edge' (one edge of a graph) or 'swap' (one "
            f"member of a subset exchanged){meant}"
        )


NeighboursLike: TypeAlias = Neighbours | Literal["add-remove", "substitute", "edge", "swap"]
"""A relation, or its name as the command line has it."""

RECORDS = {
    Neighbours.ADD_REMOVE: "row",
    Neighbours.SUBSTITUTE: "row",
    Neighbours.EDGE: "edge",
    Neighbours.SWAP: "member",
}
"""Name of a record under each relation."""
