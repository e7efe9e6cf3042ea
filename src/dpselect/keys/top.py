"""The most common keys of a public set, or of an unknown one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from dpselect import validation
from dpselect.budget.amount import exact, floor
from dpselect.errors import ParameterError
from dpselect.keys.columns import OTHER
from dpselect.keys.counts import KeyCounts, PeoplePerKey, pass_over, people_in
from dpselect.keys.groups import GroupedTop, grouped
from dpselect.keys.objectives import (
    STOP,
    ahead_of_stop,
    by_count,
    of_most_common,
    offset_of_stop,
)
from dpselect.keys.question import (
    Missing,
    Question,
    changed_keys,
    check_people,
    checked_delta,
    question_of,
)
from dpselect.keys.release import Chances, KeyRelease
from dpselect.keys.rest import Rest, without
from dpselect.keys.thresholds import TopAboveThreshold, above_threshold
from dpselect.mechanisms import (
    ExponentialMechanism,
    MechanismLike,
    NoisySequence,
    PermuteAndFlip,
    TopK,
)
from dpselect.mechanisms.top_k import gap, or_gaussian
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.query import Query, query
from dpselect.tables.caps import CapDesign, CapLike, ChosenCap, Precision, mean_of_largest
from dpselect.typing import Indices

MOST_LIMIT = 10**9
"""Candidates of an unknown domain at most, which an engine can return."""

LEAST_LIMIT = 1000
"""Candidates of an unknown domain, if not given: the more, the lower the stop."""


@query
class TopKeys(Query[KeyRelease]):
    """The keys that most people have.

    With ``candidates`` the keys are selected from these: one by one by permute-and-flip, or
    from one noisy sequence of all counts (``NoisySequence``), whichever is more accurate for
    ``k``, ``max_per_user`` and the number of candidates. The sequence also releases the noisy
    counts of its keys, at the same price. Without candidates, which needs ``delta``, noise is
    added to the counts of all keys, and the largest ones above a threshold are released with
    their noisy counts (``thresholds``). With ``mechanism="exponential"``, keys are drawn
    instead from the ``limit`` most common ones, until a draw selects the stop; this finds keys
    of fewer people, but fewer of the most common. Draws after the stop are refunded to the
    budget. In both cases fewer than ``k`` keys may be released.

    Data are a frame, the path of a Parquet or CSV file, or an array, list or Series. From a
    lazy frame (polars, DuckDB, PySpark) only counts leave the engine: those of the candidates,
    or of all keys, or, for the exponential mechanism, the ``limit + 1`` largest with their
    keys. The answer has the keys in the order drawn; with ``by``, pairs of a group and a key.

    Guarantee:
        ``epsilon``-DP with candidates and without private groups or Gaussian noise, otherwise
        ``(epsilon, delta)``-DP, under ``neighbours`` that differ in one row, or with ``user``
        in all of one person. All fields are public. Which ``max_per_user`` keys of a person are
        counted depends on that person's rows alone (``people``).

    Attributes:
        column: Column of the key; or several, for keys that are tuples.
        k: Number of keys, of each group; at most the number of candidates or ``limit``.
        above: Threshold, instead of ``k``: all candidates with at least this noisy count are
            released. The largest is first. Not derived from the data.
        candidates: The keys that can be released. Other values are dropped before the keys of a
            person are limited. Not derived from the data.
        limit: Number of the most common keys that the exponential mechanism can release. Only
            without candidates. By default ``10 k`` and at least 1000.
        by: Column of groups; the most common keys of each are released.
        groups: The public groups; other rows are dropped. If not given, groups are released
            with their keys above the threshold; with candidates, or by the exponential
            mechanism, they are released first, as by ``Keys``, for a part of epsilon and
            ``delta``, and rows of other groups are dropped.
        groups_share: Share of epsilon for groups that are released first; in (0, 1), by
            default 0.2.
        user: Column of the person that a row belongs to. Text, integers or dates; rows
            without a person are dropped.
        max_per_user: Maximal number of different keys counted per person, over all groups. They
            are selected at random; with 1 each person counts once. If groups are released
            first, it also limits the counted groups of a person. Or a ``Choose``, which selects
            it privately by the precision of the count of the ``k``-th key; this needs ``k``,
            and no private groups.
        counts_share: Share of epsilon for noisy counts; in [0, 1). A noisy sequence has some.
        other: Whether to release the noisy number of all the rest, as one more row of each
            group. It is a part of all that is counted: of the candidates, or of all keys. It
            needs noisy counts; not for draws without candidates.
        other_share: Share of epsilon for ``other``; in (0, 1), by default 0.1.
        missing: Whether rows without a key, a part of it or a group are dropped. ``"drop"``, or
            ``"key"``: a missing value is the key, the part or the group None.
        assumed_people: Public guess of the number of people. A ``delta`` of one over this
            number or more is refused. Not derived from the data.
        interval: Probability that the intervals of all noisy counts hold at once. As 0.95, with
            candidates and a noisy sequence, for the counts of these people and each group
            separately. It is free, and shows which keys are certainly among the most common;
            not with ``user``, where intervals are of what is counted alone.
        epsilon: Price of the release, in nats; finite, > 0.
        delta: Delta of the guarantee, far below one over the number of people; in (0, 1). It
            permits Gaussian noise of known keys; needed without candidates or public groups.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a row or of a person.
        mechanism: Mechanism that draws the candidates. A short name
            (``dpselect.mechanisms.MECHANISMS``), or a function of ``epsilon=``; by default as
            above. Without candidates it is ``"exponential"``, if it is given.

    Source: McKenna and Sheldon 2020, arXiv:2010.12603; without candidates Korolova, Kenthapadi,
        Mishra and Ntoulas, WWW 2009, and Durfee and Rogers 2019, arXiv:1905.04273.

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
    limit: int | None = None
    by: str | None = None
    groups: Iterable[Hashable] | None = None
    groups_share: float | None = None
    user: str | None = None
    max_per_user: CapLike | None = None
    counts_share: float = 0.0
    other: bool = False
    other_share: float | None = None
    missing: Missing = "drop"
    assumed_people: int | None = None
    interval: float | None = None
    epsilon: float
    delta: float = 0.0
    neighbours: NeighboursLike
    mechanism: MechanismLike | None = None

    def design(
        self,
    ) -> TopDesign | GroupedTop | TopAboveThreshold | ChosenCap[KeyRelease]:
        return ChosenCap.of(self) or self.at_cap()

    def at_cap(self) -> TopDesign | GroupedTop | TopAboveThreshold:
        """Return the design for one cap, which is not to be chosen."""
        check_people(self.delta, self.assumed_people)
        hidden = self.candidates is None or (self.by is not None and self.groups is None)
        if self.interval is not None and hidden:
            raise ParameterError("`interval` needs public `candidates`, and `groups` if any")
        if self.candidates is None and self.above is None and self.mechanism is None:
            relation = validation.table_neighbours(self.neighbours)
            return above_threshold(self, _question(self), relation)
        if self.by is not None and self.groups is None:
            return grouped(self, _design)
        if self.groups_share is not None:
            raise ParameterError("`groups_share` is for `by` without `groups`: leave it out")
        return _design(self)

    def chances(self) -> tuple[Chances, ...]:
        """Return the exact probabilities of release of what is not public, by number of people.

        If draws go on until then, a key is drawn before the stop with probability ``1/(1 + e^(η
        (c - n)))``, where ``n`` is the number of people who have it, minus that of the key
        after the candidates.
        """
        return self.design().chances()


@dataclass(frozen=True, kw_only=True)
class TopDesign(KeyCounts, CapDesign[KeyRelease]):
    """The public inputs of the draws.

    Attributes:
        draw: How candidates of one group are drawn.
        candidates: The public keys; None if the most common ones are candidates.
        limit: Their number.
        groups: The public groups.
        changed: How many counts one neighbour step changes, over all groups.
        offset: Offset of the stop above the count after the last candidate.
        count_scale: Scale of the noise of the counts, where they are drawn separately.
    """

    draw: TopK
    candidates: tuple[Hashable, ...] | None
    limit: int
    groups: tuple[Hashable, ...]
    changed: int
    offset: float = 0.0
    count_scale: float | None = None

    def drawing(self, people: PeoplePerKey) -> Callable[[Plan], KeyRelease]:
        return self._of_objectives(self._objectives(people))

    def _of_objectives(self, objectives: list[Objective]) -> Callable[[Plan], KeyRelease]:
        draws = [self.draw.prepare_positions(one) for one in objectives]

        def draw(plan: Plan) -> KeyRelease:
            answer: list[Hashable] = []
            people: list[float] = []
            made = []
            ends: list[tuple[float, float]] = []
            sure: list[bool] = []
            rests: list[int] = []
            for place, (objective, one) in enumerate(zip(objectives, draws, strict=True)):
                drawn = one()
                noisy = drawn.noisy_scores or objective.scores[drawn.positions]
                made.append(len(drawn.positions))
                if self.rest is not None:
                    found = objective.scores[drawn.positions].sum()
                    rests.append(int(objective.scores.sum() - found))
                ends += drawn.interval or ()
                sure += drawn.surely or ()
                for number, (position, count) in enumerate(
                    zip(drawn.positions, noisy, strict=True), start=1
                ):
                    key = objective.candidates[position]
                    if key is STOP:
                        made[-1] = number
                        break
                    answer.append((self.groups[place], key) if self.groups else key)
                    people.append(count)
            release = self._release(plan, answer, np.array(people, dtype=np.int64), made)
            if self.rest is not None:
                of_groups = zip(self.groups or (OTHER,), self.rest.noisy(rests), strict=True)
                release = replace(release, other=tuple(of_groups))
            if self.draw.interval is None:
                return release
            return replace(release, interval=tuple(ends), surely=tuple(sure))

        return draw

    def _release(
        self, plan: Plan, answer: list[Hashable], people: Indices, made: list[int]
    ) -> KeyRelease:
        counts = None
        if isinstance(self.draw.mechanism, NoisySequence):
            counts = tuple(people.tolist())
        elif self.count_scale is not None:
            from dpselect.draws.exact.noisy_counts import discrete_laplace

            counts = tuple(discrete_laplace(people, self.count_scale).tolist())
        return KeyRelease(
            tuple(answer),
            plan,
            counts=counts,
            scale=self.count_scale,
            groups=self.groups or None,
            refunded=self.refund(made, len(answer)),
        )

    def refund(self, made: Sequence[int], released: int) -> float:
        """Return what an outcome did not cost of epsilon: draws, and noise on their counts.

        A draw, also that of the stop, costs ``η = ε_1 / k``, and one person takes part in the
        draws of at most ``times`` groups, at worst of those with most draws. Noise on few
        counts costs one person what they change of them.

        Args:
            made: The number of draws in each group, with that of the stop.
            released: The number of keys that were drawn.
        """
        if self.candidates is not None:
            return 0.0
        of_draws, k = self.spends[0], self.draw.k
        worst = Fraction(sum(sorted(made)[-of_draws.times :]), k)
        refund = exact(of_draws.epsilon) * (of_draws.times - worst)
        if self.count_scale is not None:
            most = min(self.changed, k * max(1, len(self.groups)))
            share = 1 - Fraction(min(self.changed, released), most)
            refund += exact(self.spends[1].epsilon) * share
        return floor(refund)

    def chances(self) -> tuple[Chances, ...]:
        """Return the chances of a key that is not public."""
        if self.candidates is not None:
            return ()
        probabilities = partial(
            ahead_of_stop,
            exponent=self.draw.mechanism.epsilon
            / self.draw.k
            / (2 if self.neighbours is Neighbours.SUBSTITUTE else 1),
            offset=self.offset,
        )
        more_than = f" more than the value after the {self.limit} candidates"
        return (Chances("a value", probabilities, more_than),)

    @property
    def precision(self) -> Precision:
        if self.candidates is None:
            raise ParameterError(
                "`mechanism` 'exponential' without candidates has no score to choose "
                "`max_per_user` by: give one number"
            )
        if self.draw.above is not None:
            raise ParameterError("to choose `max_per_user`, give `k`, not `above`")
        facts = by_count(
            np.zeros(len(self.candidates), np.int64),
            self.candidates,
            self.neighbours,
            self.changed,
        )
        return self.question.precision(self.draw.noise(facts), self.draw.k)

    def counted(self, data: object) -> tuple[float, Callable[[Plan], KeyRelease]]:
        objectives = self._objectives(people_in(data, self.question))
        means = [mean_of_largest(one.scores, self.draw.k) for one in objectives]
        return sum(means) / len(means), self._of_objectives(objectives)

    def _objectives(self, people: PeoplePerKey) -> list[Objective]:
        """Return one objective for each group, or one."""
        if self.candidates is not None:
            return [
                by_count(counts, self.candidates, self.neighbours, self.changed)
                for counts in people.of(self.candidates, self.groups)
            ]
        return [
            of_most_common(
                counted, limit=self.limit, offset=self.offset, neighbours=self.neighbours
            )
            for counted in people.largest(self.limit + 1, self.groups)
        ]


def _design(asked: TopKeys) -> TopDesign:
    """Return the design for public groups, or none."""
    question = _question(asked)
    relation = validation.table_neighbours(asked.neighbours)
    epsilon = validation.positive("epsilon", asked.epsilon)
    if not 0 <= validation.finite("counts_share", asked.counts_share) < 1:
        raise ParameterError("`counts_share` must be at least 0 and below 1")
    rest = Rest.of(asked, epsilon, question.moved(relation))
    for_counts = without(epsilon, rest) * asked.counts_share
    make = _of_unknown if question.candidates is None else _of_known
    made = make(asked, question, relation, without(epsilon, rest), for_counts)
    made = _with_counts(made, for_counts)
    if rest is None:
        return made
    if made.candidates is None or made.count_scale is None:
        raise ParameterError(
            "`other` needs noisy counts: give `counts_share`, or `mechanism`='noisy-sequence' "
            "with `candidates`, or leave out `mechanism`"
        )
    return replace(made, spends=(*made.spends, rest.spend), epsilon=epsilon, rest=rest)


def _with_counts(made: TopDesign, for_counts: float) -> TopDesign:
    """Return a design whose counts get noise with a part of epsilon, unless they have it."""
    if for_counts == 0 or made.count_scale is not None:
        return made
    from dpselect.draws.exact.noisy_counts import LARGEST_SCALE, scale_for

    scale = scale_for(for_counts, min(made.changed, made.draw.k * max(1, len(made.groups))))
    if scale > LARGEST_SCALE:
        raise ParameterError("`counts_share` gives the counts an epsilon below 2**-50")
    of_counts = Spend("noise on the counts of the chosen keys", for_counts)
    return replace(made, spends=(*made.spends, of_counts), count_scale=scale)


def _question(asked: TopKeys) -> Question:
    return question_of(
        column=asked.column,
        user=asked.user,
        max_per_user=asked.max_per_user,
        missing=asked.missing,
        candidates=validation.listed("candidates", asked.candidates),
        by=asked.by,
        groups=validation.listed("groups", asked.groups),
    )


def _of_unknown(
    asked: TopKeys, question: Question, relation: Neighbours, epsilon: float, for_counts: float
) -> TopDesign:
    """Return draws from the most common keys there are, until the stop."""
    if asked.above is not None:
        raise ParameterError("`above` is for public `candidates`: see dp.Keys")
    if asked.k is None:
        raise ParameterError("give `k` or `above`, one of them")
    exponential = isinstance(asked.mechanism, str) and asked.mechanism == "exponential"
    if asked.mechanism is not None and not exponential:
        raise ParameterError("without candidates the `mechanism` is 'exponential'")
    k = validation.at_least("k", asked.k, 1, MOST_LIMIT // 10)
    limit = max(10 * k, LEAST_LIMIT) if asked.limit is None else asked.limit
    if k > validation.at_least("limit", limit, 1, MOST_LIMIT):
        raise ParameterError(f"`k` must be at most `limit`, {limit}, not {k}")
    changed = changed_keys(question.max_per_user, relation)
    # A person has keys in at most so many groups, and no influence on the others.
    times = min(changed, max(1, len(question.groups)))
    delta = checked_delta(asked.delta)
    mechanism = ExponentialMechanism(epsilon=(epsilon - for_counts) / times)
    offset = offset_of_stop(
        k=k,
        limit=limit,
        per_user=question.max_per_user,
        epsilon=mechanism.epsilon,
        delta=delta / times,
        neighbours=relation,
    )
    price = mechanism.epsilon, times, delta / times
    return TopDesign(
        mechanism=f"{mechanism} on {limit:,} largest counts; stop {offset:.6g} above the next",
        spends=(Spend(f"up to {k} keys, or the stop", *price),),
        epsilon=epsilon,
        delta=delta,
        neighbours=relation,
        public=(*["the groups"] * bool(question.groups), "k"),
        passes=(pass_over(limit + 1, question.groups),),
        question=question,
        draw=TopK(mechanism, k),
        candidates=None,
        limit=limit,
        groups=question.groups,
        changed=changed,
        offset=offset,
    )


def _of_known(
    asked: TopKeys, question: Question, relation: Neighbours, epsilon: float, for_counts: float
) -> TopDesign:
    """Return rounds in each group, or one sequence of the counts of all groups."""
    candidates, groups = question.candidates or (), question.groups
    if asked.delta != 0 and asked.mechanism is not None:
        raise ParameterError("with `candidates` and `mechanism` leave out `delta`")
    if asked.limit is not None:
        raise ParameterError("`limit` is for a release without `candidates`: leave it out")
    changed = changed_keys(question.max_per_user, relation)
    facts = by_count(np.zeros(len(candidates), dtype=np.int64), candidates, relation, changed)
    times = min(changed, max(1, len(groups)))
    needs_counts = asked.other and asked.mechanism is None and for_counts == 0
    moved = float(question.moved(relation))
    sequence = NoisySequence(epsilon=epsilon, l1=moved, bound=1, step=1)
    sequence = or_gaussian(sequence, asked.delta, facts, asked.k)
    draw = TopK.choose(
        facts,
        k=asked.k,
        above=asked.above,
        mechanism=(lambda **_: sequence) if needs_counts else asked.mechanism,
        rounds=PermuteAndFlip(epsilon=(epsilon - for_counts) / times),
        sequence=sequence,
        interval=asked.interval,
    )
    spend, scale = draw.spend, None
    if isinstance(draw.mechanism, NoisySequence):
        scale = draw.mechanism.noise_scale
    else:
        spend = replace(spend, times=times * spend.times)
    return TopDesign(
        mechanism=str(draw.mechanism),
        spends=(spend,),
        epsilon=epsilon,
        delta=spend.times * spend.delta,
        neighbours=relation,
        public=(
            "the candidates",
            *["the groups"] * bool(groups),
            "k" if asked.above is None else "the threshold",
        ),
        error=_error(draw, len(candidates) * max(1, len(groups)), monotone=facts.monotone),
        passes=(pass_over(len(candidates), groups),),
        exact=draw.mechanism.exact,
        question=question,
        draw=draw,
        candidates=candidates,
        limit=len(candidates),
        groups=groups,
        changed=changed,
        count_scale=scale,
    )


def _error(draw: TopK, candidates: int, *, monotone: bool) -> ErrorBound | None:
    """Bound on how many fewer people a released key has than an unreleased one."""
    if draw.above is not None:
        return None
    return draw.mechanism.single_round(draw.k).error_bound(
        candidates=candidates,
        bound=1,
        unit=gap("people", one=draw.k == 1),
        monotone=monotone,
    )
