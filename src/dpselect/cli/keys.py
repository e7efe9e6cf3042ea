"""``dpselect keys`` and ``dpselect top``: which values there are, and the most common.

``TOP`` and ``KEYS`` are the commands.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.keys import KeyRelease, Keys, TopKeys

SHOWN = (0.01, 0.1, 0.5, 0.9, 0.99)
"""Probabilities for which a dry run says how many people they take."""

KEYS_HELP = """Release the values of a column that enough people have.

With --user all rows of a person are protected together, and at most --max-per-user different
values of each person are counted; without it one row is protected. --dry-run prints how many
people a value needs to be released.

[bold]dpselect keys visits.parquet --column diagnosis --user patient --max-per-user 3 \
--epsilon 1 --delta 1e-6 --neighbours add-remove[/bold]

[bold]dpselect keys visits.parquet --column diagnosis --by ward --other --epsilon 1 \
--delta 1e-6 --neighbours add-remove[/bold]

With --by the values of each group are released, for one epsilon; with --other the noisy number
of all others, too.

With --engine spark only values of at least --min-people leave the cluster, and with --other
all values.
"""

TOP_HELP = """Release the k values of a column that most people have.

With --candidates the answer is drawn from these public values. Without them, the counts of all
values get noise, and the largest ones above a threshold are released with their noisy counts;
this needs --delta. With --user all rows of a person are protected together, and at most
--max-per-user different values of each person are counted; without it one row is protected.
--dry-run prints how many people a value needs to be released.

[bold]dpselect top visits.parquet --column diagnosis --k 10 --user patient --max-per-user 3 \
--epsilon 1 --delta 1e-6 --neighbours add-remove[/bold]

[bold]dpselect top visits.csv --column ward --k 3 --candidates wards.txt --epsilon 0.5 \
--neighbours add-remove[/bold]

With --by the most common values of each group are released. The groups are public (--groups),
or those with a value above the threshold; with --candidates the groups are released first. With
--other the noisy number of all other values is released, too.

With --above instead of --k, all candidates with at least this noisy count are released.

With --engine spark only counts leave the cluster: those of the candidates, or of all values.
"""


def values_of(name: str, column: str) -> Option:
    """Return the option of a field that lists public values of a column.

    Args:
        name: The field.
        column: The field that names the column.
    """

    def read(text: str, given: Given) -> list[Hashable]:
        named = given.options[column]
        if not named or (isinstance(named, list) and len(named) > 1):
            raise ParameterError(f"`{name}` is for one column, `{column}`")
        from dpselect.keys.columns import parsed
        from dpselect.keys.reading import kind_in
        from dpselect.tables.lists import listed_in

        kind = kind_in(given.table, named[0] if isinstance(named, list) else named)
        return [parsed(one, kind) for one in listed_in(name, text)]

    return Option(
        read=read, help="Public values: a list as a,b,c, or a text file with one per line."
    )


def _facts(query: Keys | TopKeys, _given: Given) -> Mapping[str, object]:
    """Return how many people it takes until a value is released with some probabilities."""
    from dpselect.keys.release import MOST_PEOPLE

    facts = {}
    for one in query.chances():
        people = {share: one.people_for(share) for share in SHOWN}
        facts[one.of] = {
            f"P(released) >= {share:g}": (
                f"{'from' if number < MOST_PEOPLE else 'above'} {number} people"
            )
            for share, number in people.items()
        }
    return facts


def _plot(query: Keys | TopKeys, _release: KeyRelease | None, _given: Given) -> Axes:
    from dpselect.keys import plot_chances

    return plot_chances(query.chances(), title=query.plan.mechanism)


def _before(query: Keys | TopKeys, given: Given) -> None:
    if given.options["plot"] is not None:
        _plot(query, None, given)


def _besides(release: KeyRelease, _given: Given) -> dict[str, Any]:
    """Return the groups, if these were released."""
    if release.groups is None or release.arguments.get("groups") is not None:
        return {}
    return {"groups": ", ".join(map(str, release.groups)) or "(none)"}


KEYS = QueryCommand(
    name="keys",
    query="Keys",
    help=KEYS_HELP,
    options={"groups": values_of("groups", "by")},
    facts=_facts,
    before=_before,
    after=_besides,
    plot=_plot,
)

TOP = QueryCommand(
    name="top",
    query="TopKeys",
    help=TOP_HELP,
    options={
        "candidates": values_of("candidates", "column"),
        "groups": values_of("groups", "by"),
    },
    facts=_facts,
    before=_before,
    after=_besides,
    plot=_plot,
)
