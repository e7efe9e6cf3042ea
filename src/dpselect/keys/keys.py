"""The set of keys that there are."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Annotated, Any

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.keys.design import ByCount, KeysDesign, Rest, _KeysQuery
from dpselect.keys.rounds import ROUNDS, RoundsSelection
from dpselect.keys.rows import KeyRows, Missing, check_people, checked_delta, reads
from dpselect.keys.selection import LARGEST_EPSILON, KeyMethod, KeySelection, selection_of
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan
from dpselect.query import Claim, Columns, query
from dpselect.tables.groups import GROUPS_SHARE
from dpselect.tables.people import changed_rows
from dpselect.typing import Indices, Probabilities

FOR_ROUNDS = 3
"""Keys a person from which on rounds are the default: with fewer they may need more people."""


@query
class Keys(_KeysQuery):
    """The keys that enough people have: as many of them as possible.

    Data are a frame, the path of a Parquet or CSV file, or an array, list or Series. From a
    lazy frame (polars, DuckDB, PySpark) only keys of at least ``min_people`` leave the engine,
    with their counts; of DuckDB and Sail, which would read all rows four times, ``"rounds"``
    keep all pairs of a person and a key in memory.
    The answer has the keys in the order of their text, with noisy counts if the method has
    them; with ``by``, pairs of a group and a key.

    Guarantee:
        ``(epsilon, delta)``-DP under ``neighbours`` that differ in one row, or with ``user`` in
        all rows of one person. All fields are public. Which ``max_per_user`` keys of a person
        are counted depends on that person's rows alone (``people``).

    Attributes:
        column: Column of the key; or several, for keys that are tuples.
        by: Column of groups, or several, for groups that are tuples; the keys of each are
            released. All groups together cost as much as the keys of one, since the limit of a
            person's keys is over all groups.
        groups: The public groups, or a list of values for each column of ``by``, of which all
            combinations are groups. Each gets an answer; other rows are dropped. If not given,
            groups are released with their keys, at no extra cost.
        user: Column of the person that a row belongs to. Text, integers or dates; rows without
            a person are dropped.
        max_per_user: Maximal number of different keys counted per person, over all groups.
        other: Whether to release the noisy number of all the rest, as one more row of each
            group. It is a part of all that is counted, so rows without a key or a group are
            not in it. It needs noisy counts: ``"laplace"`` or ``"gaussian"``.
        other_share: Share of epsilon for ``other``; in (0, 1), by default 0.1.
        method: How keys are selected. ``"rounds"`` gives more weight to the keys of persons who
            have few, and goes over the rows four times: keys that are found, or too rare to be
            found, leave their weight to the others (``dpselect.keys.rounds``). ``"optimal"``
            releases every key with the largest probability that its part of epsilon and delta
            allows. ``"laplace"`` and ``"gaussian"`` release keys whose noisy count is at least
            a threshold, with these counts. The default is ``"rounds"``, which finds most keys;
            for one or two keys per person, or with ``by``, ``other`` or ``min_people``, it is
            the one of the others for which a key needs the fewest people to be released with
            probability 1/2.
        min_people: Keys of fewer people are never released.
        missing_keys: Whether rows without a key, a part of it or a group are dropped.
            ``"drop"``, or ``"key"``: a missing value is the key, the part or the group None.
        assumed_people: Public guess of the number of people. A ``delta`` of one over this
            number or more is refused. Not derived from the data.
        epsilon: Price of the release, in nats; finite, > 0.
        delta: Delta of the guarantee, far below one over the number of people; in (0, 1).
        neighbours: ``"add-remove"`` or ``"substitute"``, of a row or of a person.

    Source: Desfontaines, Voss, Gipson and Mandayam 2022, arXiv:2006.03684; for weights Gopi,
        Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020, arXiv:2002.09745.

    Examples:
        >>> import dpselect as dp
        >>> pages = ["home"] * 500 + ["help"] * 300 + ["secret"]
        >>> dp.Keys(epsilon=1.0, delta=1e-9, neighbours="add-remove").release(pages).answer
        ('help', 'home')
    """

    column: str | Sequence[str] | None = None
    by: str | Sequence[str] | None = None
    groups: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None
    user: str | None = None
    max_per_user: int | None = None
    other: bool = False
    other_share: float | None = None
    method: KeyMethod | None = None
    min_people: int = 1
    missing_keys: Missing = "drop"
    assumed_people: Annotated[int | None, Claim(None, can_fail=False)] = None
    epsilon: float
    delta: float
    neighbours: NeighboursLike

    def reads(self) -> Columns:
        return reads(self.column_named(), None)

    def design(self) -> KeysDesign:
        check_people(self.delta, self.assumed_people)
        least = validation.at_least("min_people", self.min_people, 1, validation.EXACT)
        return unknown_keys(self, self._law, least=least)

    def _law(
        self, epsilon: float, delta: float, changed: int, rows: KeyRows
    ) -> KeySelection | RoundsSelection:
        """Return how a key is selected."""
        method, most = self.method, rows.max_per_user
        if method is not None:
            validation.one_of("method", method, KeyMethod)
        by_count = self.by is not None or self.other or self.min_people > 1
        if method is None and most >= FOR_ROUNDS and not by_count:
            method = "rounds"
        if self.other and method in ("rounds", "optimal"):
            raise ParameterError(
                "`other` needs noisy counts: `method` must be 'laplace' or 'gaussian'"
            )
        if method != "rounds":
            return selection_of(method, epsilon, delta, changed, 0 if self.other else None)
        if self.min_people > 1:
            raise ParameterError("`min_people` is for methods that count people: leave it out")
        if self.by is not None:
            raise ParameterError(
                "`method` 'rounds' has no groups: give their column as one more `column`"
            )
        return RoundsSelection(epsilon, delta, most, changed // most)

    def probabilities(self, people: Indices) -> Probabilities:
        """Return the exact probability that a key is released.

        It depends on the number of people who have the key alone, and keys are drawn
        independently: these are the probabilities of the whole release. For ``"rounds"`` it is
        the least probability, that of people with ``max_per_user`` keys each, all of which
        stay in.

        Args:
            people: Numbers of people, any shape; >= 0.

        Examples:
            >>> import dpselect as dp
            >>> import numpy as np
            >>> pages = dp.Keys(epsilon=0.1, delta=1e-5, neighbours="add-remove")
            >>> pages.probabilities(np.array([1, 85, 86])).round(3)
            array([0.   , 0.467, 0.516])
        """
        return self.chances()[0].probabilities(people)


def unknown_keys(
    asked: Any,  # noqa: ANN401 -- ``Keys`` or ``TopKeys``
    law_of: Callable[[float, float, int, KeyRows], KeySelection | RoundsSelection],
    *,
    k: int | None = None,
    least: int = 1,
) -> KeysDesign:
    """Return the design of a release of keys that are not public.

    Args:
        asked: The query.
        law_of: Returns how a key is selected, by the epsilon and delta for it, the number of
            counts that one neighbour step changes, and what is read.
        k: How many of the largest noisy counts are released of each group; all if not given.
        least: A key of fewer people is never released.

    Raises:
        ParameterError: A field is out of its range, or does not go with another.
    """
    rows, relation = KeyRows.of(asked), validation.table_neighbours(asked.neighbours)
    epsilon = validation.positive("epsilon", asked.epsilon)
    epsilon = validation.within("epsilon", epsilon, 0, LARGEST_EPSILON)
    changed = changed_rows(rows.max_per_user, relation)
    rest = Rest.of(asked, epsilon, changed)
    law = law_of(epsilon - rest.epsilon, checked_delta(asked.delta), changed, rows)
    public = {"the groups": rows.groups, "k": k, "the least number of people": least > 1}
    largest = "" if k is None else f", then the {k} largest{' of each group' * bool(rows.by)}"
    how = law if isinstance(law, RoundsSelection) else ByCount(law, k, least, rest.epsilon > 0)
    return KeysDesign(
        plan=Plan(
            mechanism=f"{law.label}{largest}",
            spends=(*law.spends(), *rest.spends),
            epsilon=epsilon,
            delta=float(asked.delta),
            neighbours=relation,
            public=tuple(name for name, one in public.items() if one),
            passes=ROUNDS if how is law else 1,
        ),
        rows=rows,
        rest=rest,
        selection=how,
    )


def groups_first(asked: Any) -> KeysDesign:  # noqa: ANN401 -- a query
    """Return the design by which the groups of a query are released first.

    Raises:
        ParameterError: A field is out of its range.
    """
    share = GROUPS_SHARE if asked.groups_share is None else asked.groups_share
    share = validation.share("groups_share", share)
    return Keys(
        column=asked.by,
        user=asked.user,
        max_per_user=asked.max_per_user,
        missing_keys=getattr(asked, "missing_keys", "drop"),
        epsilon=validation.positive("epsilon", asked.epsilon) * share,
        delta=checked_delta(asked.delta),
        neighbours=asked.neighbours,
    ).design()
