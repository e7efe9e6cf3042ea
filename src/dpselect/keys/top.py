"""The most common keys of a public set, or of an unknown one.

Of an unknown one all keys that there are get noise on their counts, those below a threshold are
dropped, and the largest of the noisy counts are released with their keys: the guarantee is that
of ``Keys`` of the pairs of a group and a key by the same noise. The choice of the largest looks
at noisy counts alone, so it costs nothing, and every group has its own largest.

Groups that are not public are released first. A person is in as many groups as keys are
counted, and the keys that are counted are taken from the released groups: each step is private
for the whole person, whatever the first one released, so their prices add up.

Source: Korolova, Kenthapadi, Mishra and Ntoulas, WWW 2009.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from dpselect import validation
from dpselect.draws.exact.noisy_counts import check_scale, scale_for
from dpselect.errors import ParameterError
from dpselect.keys.design import GroupsFirst, KeysDesign, OfCandidates, Rest, _KeysQuery
from dpselect.keys.keys import groups_first, unknown_keys
from dpselect.keys.release import FRESH
from dpselect.keys.rows import KeyRows, Missing, check_people, reads
from dpselect.keys.selection import selection_of
from dpselect.mechanisms import MechanismLike, NoisySequence, PermuteAndFlip, TopK
from dpselect.mechanisms.score_intervals import checked_interval
from dpselect.mechanisms.top_k import or_gaussian
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Facts
from dpselect.plan import Plan, Spend
from dpselect.query import Claim, Columns, query
from dpselect.sensitivity import GlobalSensitivity
from dpselect.tables.groups import after_groups
from dpselect.tables.people import changed_rows

MOST = 10**8
"""Keys of a release without candidates, at most."""


@query
class TopKeys(_KeysQuery):
    """The keys that most people have.

    With ``candidates`` the keys are selected from these: one by one by permute-and-flip, or
    from one noisy sequence of all counts (``NoisySequence``), whichever is more accurate for
    ``k``, ``max_per_user`` and the number of candidates. The sequence also releases the noisy
    counts of its keys, at the same price. Without candidates, which needs ``delta``, noise is
    added to the counts of all keys, and the largest ones above a threshold are released with
    their noisy counts: fewer than ``k`` keys may be released.

    Data are a frame, the path of a Parquet or CSV file, or an array, list or Series. From a
    lazy frame (polars, DuckDB, PySpark) only counts leave the engine: those of the candidates,
    or of all keys. The answer has the keys in the order drawn; with ``by``, pairs of a group
    and a key.

    Guarantee:
        ``epsilon``-DP with candidates and without private groups or Gaussian noise, otherwise
        ``(epsilon, delta)``-DP, under ``neighbours`` that differ in one row, or with ``user``
        in all of one person. All fields are public. Which ``max_per_user`` keys of a person are
        counted depends on that person's rows alone (``people``).

    Attributes:
        column: Column of the key; or several, for keys that are tuples.
        k: Number of keys, of each group; at most the number of candidates.
        above: Threshold, instead of ``k``: all candidates with at least this noisy count are
            released. The largest is first. Not derived from the data.
        candidates: The keys that can be released. Other values are dropped before the keys of a
            person are limited. Not derived from the data.
        by: Column of groups, or several, for groups that are tuples; the most common keys of
            each are released.
        groups: The public groups, or a list of values for each column of ``by``, of which all
            combinations are groups. Other rows are dropped. If not given, groups are released
            with their keys above the threshold; with candidates they are released first, as by
            ``Keys`` of the rows that have a candidate, for a part of epsilon and for ``delta``,
            and rows of other groups are dropped.
        groups_share: Share of epsilon for groups that are released first; in (0, 1), by
            default 0.2.
        user: Column of the person that a row belongs to. Text, integers or dates; rows
            without a person are dropped.
        max_per_user: Maximal number of different keys counted per person, over all groups. They
            are selected at random; with 1 each person counts once. If groups are released
            first, it also limits the counted groups of a person.
        counts_share: Share of epsilon for noisy counts; in [0, 1). A noisy sequence has some.
        other: Whether to release the noisy number of all the rest, as one more row of each
            group. It is a part of all that is counted: of the candidates, or of all keys. Rows
            without a key or a group are not in it. It needs noisy counts.
        other_share: Share of epsilon for ``other``; in (0, 1), by default 0.1.
        missing_keys: Whether rows without a key, a part of it or a group are dropped.
            ``"drop"``, or ``"key"``: a missing value is the key, the part or the group None.
        assumed_people: Public guess of the number of people. A ``delta`` of one over this
            number or more is refused. Not derived from the data.
        interval: Probability that the intervals of all noisy counts hold at once. As 0.95, with
            candidates, for all groups together. It is free. With a noisy sequence it holds on
            all data, and shows which keys are certainly among the most common; with
            ``counts_share`` it holds given the selection. With ``user`` intervals are of what
            is counted alone.
        epsilon: Price of the release, in nats; finite, > 0.
        delta: Delta of the guarantee, far below one over the number of people; in (0, 1). It
            permits Gaussian noise of known keys; needed without candidates or public groups.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a row or of a person.
        mechanism: Mechanism that draws the candidates. A short name
            (``dpselect.mechanisms.MECHANISMS``), or a function of ``epsilon=``; by default as
            above. Only with candidates.

    Source: McKenna and Sheldon 2020, arXiv:2010.12603; without candidates Korolova, Kenthapadi,
        Mishra and Ntoulas, WWW 2009.

    Examples:
        >>> import dpselect as dp
        >>> fruit = ["apple"] * 300 + ["pear"] * 200 + ["fig"] * 10
        >>> top = dp.TopKeys(k=2, epsilon=2.0, delta=1e-6, neighbours="add-remove")
        >>> top.release(fruit).answer
        ('apple', 'pear')
    """

    column: str | Sequence[str] | None = None
    k: int | None = None
    above: float | None = None
    candidates: Iterable[Hashable] | None = None
    by: str | Sequence[str] | None = None
    groups: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None
    groups_share: float | None = None
    user: str | None = None
    max_per_user: int | None = None
    counts_share: float = 0.0
    other: bool = False
    other_share: float | None = None
    missing_keys: Missing = "drop"
    assumed_people: Annotated[int | None, Claim(None, can_fail=False)] = None
    interval: float | None = None
    epsilon: float
    delta: float = 0.0
    neighbours: NeighboursLike
    mechanism: MechanismLike | None = None

    def reads(self) -> Columns:
        return reads(self.column_named(), self.candidates)

    def design(self) -> KeysDesign:
        check_people(self.delta, self.assumed_people)
        hides_groups = self.by is not None and self.groups is None
        if self.interval is not None and (self.candidates is None or hides_groups):
            raise ParameterError("`interval` needs public `candidates`, and `groups` if any")
        if self.candidates is None:
            return _above_threshold(self)
        if hides_groups:
            return _groups_first(self)
        validation.left_out(self, "groups_share", why="is for `by` without `groups`")
        return _of_candidates(self)


def _of_candidates(asked: TopKeys) -> KeysDesign:
    """Return rounds in each public group, if any, or one sequence of the counts of all."""
    rows = KeyRows.of(asked)
    relation = validation.table_neighbours(asked.neighbours)
    epsilon = validation.positive("epsilon", asked.epsilon)
    validation.probability("counts_share", asked.counts_share)
    if asked.delta != 0 and asked.mechanism is not None:
        raise ParameterError("with `candidates` and `mechanism` leave out `delta`")
    changed = changed_rows(rows.max_per_user, relation)
    many = len(rows.candidates or ()) * max(1, len(rows.groups))
    moved = min(changed, many)
    rest = Rest.of(asked, epsilon, moved)
    of_keys = epsilon - rest.epsilon
    for_counts = of_keys * asked.counts_share
    candidates, groups = rows.candidates or (), rows.groups
    facts = facts_of(len(candidates), relation, changed)
    times = min(changed, max(1, len(groups)))
    needs_counts = asked.other and asked.mechanism is None and for_counts == 0
    sequence = NoisySequence(epsilon=of_keys, l1=float(moved), bound=1, step=1)
    top = TopK.choose(
        facts,
        k=asked.k,
        above=asked.above,
        mechanism=NoisySequence.name if needs_counts else asked.mechanism,
        rounds=PermuteAndFlip(epsilon=(of_keys - for_counts) / times),
        sequence=or_gaussian(sequence, asked.delta, facts, asked.k),
        interval=asked.interval if for_counts == 0 else None,
    )
    held = None if asked.interval is None else checked_interval(asked.interval)
    spends: tuple[Spend, ...] = (top.spend,)
    scale = None
    if isinstance(top.mechanism, NoisySequence):
        scale = top.mechanism.noise_scale
        top = replace(top, interval=held)
    else:
        spends = (replace(top.spend, times=times * top.spend.times),)
        if for_counts > 0:
            scale = scale_for(for_counts, min(changed, top.k * max(1, len(groups))))
            check_scale(scale, "counts_share")
            spends += (Spend(FRESH, for_counts),)
    if rest.epsilon > 0 and scale is None:
        raise ParameterError(
            "`other` needs noisy counts: give `counts_share`, or `mechanism`='noisy-sequence', "
            "or leave out `mechanism`"
        )
    return KeysDesign(
        plan=Plan(
            mechanism=str(top.mechanism),
            spends=(*spends, *rest.spends),
            epsilon=epsilon,
            delta=spends[0].times * spends[0].delta,
            neighbours=relation,
            public=(
                "the candidates",
                *["the groups"] * bool(groups),
                "k" if asked.above is None else "the threshold",
            ),
            error=top.error(facts_of(many, relation, changed), "people"),
            passes=1,
        ),
        exact=top.mechanism.exact,
        rows=rows,
        selection=OfCandidates(top, facts, candidates, groups, scale, held),
        rest=rest,
    )


def _groups_first(asked: TopKeys) -> KeysDesign:
    """Return the design of a release whose groups are not public."""
    epsilon = validation.positive("epsilon", asked.epsilon)
    first = groups_first(asked)
    # As many groups as one person can change have the most noise.
    most = range(changed_rows(first.rows.max_per_user, first.plan.neighbours))
    parts = len(first.rows.columns)
    within = replace(
        asked,
        groups=most if parts == 1 else [(one,) * parts for one in most],
        groups_share=None,
        epsilon=epsilon - first.plan.epsilon,
        delta=0.0,
    )
    widest = _of_candidates(within)
    each, rest, held = widest.plan, widest.rest, widest.selection
    assert isinstance(held, OfCandidates)  # noqa: S101 -- as it is made there
    if each.delta > 0:
        raise ParameterError("where groups are released first, `mechanism` must cost no delta")
    what = f"{held.top.k} keys" if held.top.above is None else "the keys above a threshold"
    of_keys = Spend(f"{what} of each group, at most", each.epsilon - rest.epsilon)
    public = tuple(one for one in each.public if one != "the groups")
    plan = replace(each, spends=(of_keys, *rest.spends), epsilon=epsilon, public=public)
    return replace(
        widest,
        plan=after_groups(first.plan, plan),
        rows=replace(widest.rows, groups=()),
        selection=GroupsFirst(
            first.selection,
            lambda groups: _of_candidates(replace(within, groups=groups)).selection,
        ),
    )


def _above_threshold(asked: TopKeys) -> KeysDesign:
    """Return the design of a release without candidates.

    Raises:
        ParameterError: A field is out of its range, or for public candidates.
    """
    why = "is for public `candidates`: list these, or leave it out"
    validation.left_out(asked, "above", "groups_share", "counts_share", "mechanism", why=why)
    if asked.k is None:
        raise ParameterError("without `candidates` give `k`, or see dp.Keys")
    k = validation.at_least("k", asked.k, 1, MOST)
    return unknown_keys(
        asked,
        lambda epsilon, delta, changed, _: selection_of(None, epsilon, delta, changed, k),
        k=k,
    )


def facts_of(candidates: int, neighbours: Neighbours, changed: int) -> Facts:
    """Return what is public of the counts of so many public candidates.

    One person moves every count by at most 1, and at most ``changed`` counts: all in one
    direction if added or removed.
    """
    return Facts(
        candidates=candidates,
        sensitivity=GlobalSensitivity(1, neighbours, l1=min(changed, candidates)),
        monotone=neighbours is Neighbours.ADD_REMOVE,
        step=1,
    )
