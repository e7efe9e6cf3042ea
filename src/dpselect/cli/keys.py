"""``dpselect keys`` and ``dpselect top``: which values there are, and the most common."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    pass


def names_in(text: str | Sequence[str], given: Given) -> list[str]:
    """Return names of columns that are separated by commas, or given one by one."""
    from dpselect import tables

    held = tables.schema(tables.open_table(given.table), given.table)
    several = [text] if isinstance(text, str) else text
    return [name for one in several for name in ([one] if one in held else one.split(","))]


def _values(field: str, text: str, column: str, given: Given) -> list[Hashable]:
    """Return public values of a column that are typed, or listed in a file."""
    from dpselect.keys.rows import kind_in
    from dpselect.tables.key_columns import parsed
    from dpselect.tables.lists import listed_in

    kind = kind_in(given.table, column)
    return [parsed(one, kind) for one in listed_in(field, text)]


def values_of(field: str, column: str) -> Option:
    """Return the option of a field that lists public values of one column.

    Args:
        field: The field.
        column: The field that names the column.
    """

    def read(text: str, given: Given) -> list[Hashable]:
        named = given.options[column]
        if not named or (isinstance(named, list) and len(named) > 1):
            raise ParameterError(f"`{field}` is for one column, `{column}`")
        return _values(field, text, named[0] if isinstance(named, list) else named, given)

    return Option(read=read)


def _groups(text: str | Sequence[str], given: Given) -> Any:
    names = names_in(given.options["by"] or (), given)
    lists = [text] if isinstance(text, str) else text
    if not names or len(lists) != len(names):
        raise ParameterError("`groups` needs one list for each column of `by`, in its order")
    found = {
        name: _values("groups", one, name, given)
        for name, one in zip(names, lists, strict=True)
    }
    return found if len(names) > 1 else found[names[0]]


def _by(text: str | Sequence[str], given: Given) -> list[str] | str:
    names = names_in(text, given)
    return names if len(names) > 1 else names[0]


BY = {
    "by": Option(kind=list[str], read=_by),
    "groups": Option(kind=list[str], read=_groups),
}
"""Options of groups."""


class Values(QueryCommand):
    """Release the values of a column that enough people have.

    With --user all rows of a person are protected together, and at most --max-per-user
    different values of each person are counted; without it one row is protected. --dry-run
    prints how many people a value needs to be released.

    $ dpselect keys visits.parquet --column diagnosis --user patient --max-per-user 3
    --epsilon 1 --delta 1e-6 --neighbours add-remove

    $ dpselect keys visits.parquet --column diagnosis --by ward --other --epsilon 1
    --delta 1e-6 --neighbours add-remove

    With --by the values of each group are released, for one epsilon; with --other the noisy
    number of all others, too.

    With --engine spark only values of at least --min-people leave the cluster, and with --other
    all values.

    Args:
        by: Column of groups, or several, as ward,month: each combination is a group.
        groups: The public groups: a list as a,b,c, or a text file with one per line; with
            several columns repeat it, a list for each column.
    """

    name, query, options = "keys", "Keys", BY


class Top(QueryCommand):
    """Release the k values of a column that most people have.

    With --candidates the answer is drawn from these public values. Without them, the counts of
    all values get noise, and the largest ones above a threshold are released with their noisy
    counts; this needs --delta. With --user all rows of a person are protected together, and at
    most --max-per-user different values of each person are counted; without it one row is
    protected. --dry-run prints how many people a value needs to be released.

    $ dpselect top visits.parquet --column diagnosis --k 10 --user patient --max-per-user 3
    --epsilon 1 --delta 1e-6 --neighbours add-remove

    $ dpselect top visits.csv --column ward --k 3 --candidates wards.txt --epsilon 0.5
    --neighbours add-remove

    With --by the most common values of each group are released. The groups are public
    (--groups), or those with a value above the threshold; with --candidates the groups are
    released first. With --other the noisy number of all other values is released, too.

    With --above instead of --k, all candidates with at least this noisy count are released.

    With --engine spark only counts leave the cluster: those of the candidates, or of all
    values.

    Args:
        candidates: Public values: a list as a,b,c, or a text file with one per line.
        by: Column of groups, or several, as ward,month: each combination is a group.
        groups: The public groups: a list as a,b,c, or a text file with one per line; with
            several columns repeat it, a list for each column.
    """

    name, query = "top", "TopKeys"
    options = {"candidates": values_of("candidates", "column"), **BY}
