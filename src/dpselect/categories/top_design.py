"""All that is decided of a release of the most common keys before the data are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpselect import _validate
from dpselect.accuracy import error_bound
from dpselect.budget.amount import exact, floor
from dpselect.categories.asked import (
    Missing,
    Question,
    asked_question,
    changed_keys,
    checked_delta,
)
from dpselect.categories.columns import checked_names
from dpselect.categories.counts import PeoplePerKey, pass_over
from dpselect.categories.objectives import STOP, by_count, of_most_common, offset_of_stop
from dpselect.categories.release import KeyRelease
from dpselect.errors import ParameterError
from dpselect.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    MechanismFactory,
    NoisySequence,
    PermuteAndFlip,
    by_name,
)
from dpselect.mechanisms.crossing import rounds_or_sequence
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.plan import ErrorBound, Plan, Spend
from dpselect.typing import Indices

LEAST_LIMIT = 1000
"""Candidates of an unknown domain, if not given: the more, the lower the stop."""


@dataclass(frozen=True, slots=True)
class TopDesign:
    """The plan of a release with the public inputs of its draws.

    Attributes:
        plan: What is spent.
        question: What is read.
        k: How many keys of each group.
        above: Or: the least noisy count of a key that is released.
        candidates: The public keys; None if the most common ones are candidates.
        limit: Their number.
        groups: The public groups.
        changed: How many counts one neighbour step changes, over all groups.
        draw: The mechanism of one group, at the epsilon of its draw.
        offset: Of the stop above the count after the last candidate.
        count_scale: Of the noise of the counts, where they are drawn separately.
    """

    plan: Plan
    question: Question
    k: int
    above: float | None
    candidates: tuple[Hashable, ...] | None
    limit: int
    groups: tuple[Hashable, ...]
    changed: int
    draw: Mechanism
    offset: float
    count_scale: float | None

    @np.errstate(all="ignore")
    def drawing(self, people: PeoplePerKey) -> Callable[[], KeyRelease]:
        """Return the draw of everything, after all that can fail."""
        objectives = self._objectives(people)
        if isinstance(self.draw, NoisySequence) and self.above is not None:
            draws = [self.draw.drawing_above(one, self.above) for one in objectives]
        else:
            draws = [self.draw.drawing(one, self.k) for one in objectives]

        @np.errstate(all="ignore")
        def draw() -> KeyRelease:
            answer: list[Hashable] = []
            people: list[float] = []
            made = []
            for place, (objective, one) in enumerate(zip(objectives, draws, strict=True)):
                drawn = one()
                noisy = drawn.noisy_scores or objective.scores[drawn.positions]
                made.append(len(drawn.positions))
                for number, (position, count) in enumerate(
                    zip(drawn.positions, noisy, strict=True), start=1
                ):
                    key = objective.candidates[position]
                    if key is STOP:
                        made[-1] = number
                        break
                    answer.append((self.groups[place], key) if self.groups else key)
                    people.append(count)
            return self._release(answer, np.array(people, dtype=np.int64), made)

        return draw

    def _release(self, answer: list[Hashable], people: Indices, made: list[int]) -> KeyRelease:
        counts = None
        if isinstance(self.draw, NoisySequence):
            counts = tuple(people.tolist())
        elif self.count_scale is not None:
            from dpselect.draws.noisy_counts import discrete_laplace

            counts = tuple(discrete_laplace(people, self.count_scale).tolist())
        return KeyRelease(
            answer=tuple(answer),
            plan=self.plan,
            exact=True,
            counts=counts,
            scale=self.count_scale,
            refunded=self.refund(made, len(answer)),
        )

    def refund(self, made: Sequence[int], released: int) -> float:
        r"""Return what an outcome did not cost of epsilon: draws, and noise on their counts.

        A draw, also that of the stop, costs :math:`\eta = \varepsilon_1 / k`, and one person
        takes part in the draws of at most ``times`` groups, at worst of those with most
        draws. Noise on few counts costs one person what they change of them.

        Args:
            made: The number of draws in each group, with that of the stop.
            released: The number of keys that were drawn.
        """
        if self.candidates is not None:
            return 0.0
        of_draws = self.plan.spends[0]
        worst = Fraction(sum(sorted(made)[-of_draws.times :]), self.k)
        refund = exact(of_draws.epsilon) * (of_draws.times - worst)
        if self.count_scale is not None:
            most = min(self.changed, self.k * max(1, len(self.groups)))
            share = 1 - Fraction(min(self.changed, released), most)
            refund += exact(self.plan.spends[1].epsilon) * share
        return floor(refund)

    def _objectives(self, people: PeoplePerKey) -> list[Objective]:
        """Return one objective for each group, or one."""
        relation = self.plan.neighbours
        if self.candidates is not None:
            return [
                by_count(counts, self.candidates, relation, self.changed)
                for counts in people.of(self.candidates, self.groups)
            ]
        return [
            of_most_common(counted, limit=self.limit, offset=self.offset, neighbours=relation)
            for counted in people.largest(self.limit + 1, self.groups)
        ]


class _Draws(NamedTuple):
    """The mechanism of one group with the prices of all."""

    draw: Mechanism
    spends: tuple[Spend, ...]
    offset: float = 0.0


def design_top(  # noqa: PLR0913 -- the public arguments
    *,
    column: str | Sequence[str] | None,
    k: int | None,
    above: float | None,
    candidates: Iterable[Hashable] | None,
    limit: int | None,
    group: str | None,
    groups: Iterable[Hashable] | None,
    user: str | None,
    max_per_user: int | None,
    counts_share: float,
    missing: Missing,
    epsilon: float,
    delta: float,
    neighbours: NeighboursLike,
    mechanism: str | MechanismFactory | None,
) -> TopDesign:
    """Return the plan of a release and the public inputs of its draws.

    Raises:
        ParameterError, NeighboursError: As for :func:`~dpselect.categories.plan_top`.
    """
    listed = _validate.listed("candidates", candidates)
    named = _validate.listed("groups", groups)
    question = asked_question(
        column=column,
        user=user,
        max_per_user=max_per_user,
        missing=missing,
        candidates=listed,
        group=group,
        groups=named,
    )
    relation = _validate.table_neighbours(neighbours)
    epsilon = _validate.positive("epsilon", epsilon)
    k, width = _sizes(k, above, listed, limit)
    if not 0 <= _validate.finite("counts_share", counts_share) < 1:
        raise ParameterError("counts_share must be at least 0 and below 1")
    changed = changed_keys(question.max_per_user, relation)
    of_groups, of_counts = max(1, len(question.groups)), epsilon * counts_share
    if listed is None:
        if mechanism not in {None, ExponentialMechanism.name}:
            raise ParameterError("without candidates the mechanism is 'exponential'")
        draws = _of_unknown(
            k=k,
            limit=width,
            per_user=question.max_per_user,
            # A person has keys in at most so many groups, and no influence on the others.
            times=min(changed, of_groups),
            epsilon=epsilon - of_counts,
            delta=checked_delta(delta),
            neighbours=relation,
        )
    else:
        if _validate.finite("delta", delta) != 0:
            raise ParameterError("with candidates the release is epsilon-DP: leave out delta")
        draws = _of_known(
            by_count(np.zeros(width, dtype=np.int64), listed, relation, changed),
            k=k if above is None else None,
            groups=of_groups,
            changed=changed,
            epsilon=epsilon,
            of_counts=of_counts,
            mechanism=mechanism,
        )
    spends, count_scale = draws.spends, None
    if isinstance(draws.draw, NoisySequence):
        count_scale, delta = draws.draw.noise_scale, draws.draw.delta
    elif of_counts > 0:
        from dpselect.draws.noisy_counts import LARGEST_SCALE, scale_for

        count_scale = scale_for(of_counts, min(changed, k * of_groups))
        if count_scale > LARGEST_SCALE:
            raise ParameterError("counts_share leaves the counts an epsilon below 2**-50")
        spends = (*spends, Spend("noise on the counts of the chosen keys", of_counts))
    plan = Plan(
        function="release_top",
        arguments={
            "column": list(checked_names(column)) or None,
            "k": k if above is None else None,
            "above": above,
            "candidates": None if listed is None else list(listed),
            "limit": width if listed is None else None,
            "group": group,
            "groups": None if named is None else list(named),
            "user": user,
            "max_per_user": max_per_user,
            "counts_share": counts_share,
            "missing": missing,
        },
        mechanism=_label(draws, unknown=listed is None),
        spends=spends,
        epsilon=epsilon,
        delta=float(delta),
        neighbours=relation,
        public=_public(known=listed is not None, grouped=bool(named), above=above is not None),
        error=_error(draws.draw, listed, k, question.groups, above),
        passes=(pass_over(width + (listed is None), question.groups),),
    )
    return TopDesign(
        plan=plan,
        question=question,
        k=k,
        above=above,
        candidates=listed,
        limit=width,
        groups=question.groups,
        changed=changed,
        draw=draws.draw,
        offset=draws.offset,
        count_scale=count_scale,
    )


def _of_unknown(
    *,
    k: int,
    limit: int,
    per_user: int,
    times: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
) -> _Draws:
    draw, share = ExponentialMechanism(epsilon=epsilon / times), delta / times
    offset = offset_of_stop(
        k=k,
        limit=limit,
        per_user=per_user,
        epsilon=draw.epsilon,
        delta=share,
        neighbours=neighbours,
    )
    spend = Spend(f"up to {k} keys, or the stop", draw.epsilon, times=times, delta=share)
    return _Draws(draw, (spend,), offset)


def _of_known(
    example: Objective,
    *,
    k: int | None,
    groups: int,
    changed: int,
    epsilon: float,
    of_counts: float,
    mechanism: str | MechanismFactory | None,
) -> _Draws:
    """Return rounds in each group, or one sequence of the counts of all groups.

    Args:
        example: The objective of one group without people.
        k: How many keys; None for a threshold, which a sequence alone has.
        groups: How many there are, at least 1.
        changed: How many counts one neighbour step changes.
        epsilon: Of the whole release.
        of_counts: The part of it that rounds leave for noisy counts.
        mechanism: As given; of a noisy sequence we know all facts.
    """
    times = min(changed, groups)
    each = (epsilon - of_counts) / times
    most = float(min(changed, len(example) * groups))
    sequence = NoisySequence(epsilon=epsilon, with_scores=True, l1=most, bound=1, step=1)
    draw: Mechanism = sequence
    if mechanism is not None:
        draw = by_name(mechanism, each)
        if isinstance(draw, NoisySequence):
            draw = replace(draw, epsilon=epsilon, with_scores=True, l1=most, bound=1, step=1)
    elif k is not None:
        draw = rounds_or_sequence(PermuteAndFlip(epsilon=each), example, k, sequence=sequence)
    if isinstance(draw, NoisySequence):
        return _Draws(draw, (draw.spend(draw.paid_for),))
    if k is None:
        raise ParameterError("above needs a noisy sequence: leave out mechanism")
    draw = draw.for_objective(example)
    spend = draw.spend(draw.paid_for, k)
    return _Draws(draw, (replace(spend, times=times * k),))


def _error(
    draw: Mechanism,
    listed: tuple[Hashable, ...] | None,
    k: int,
    groups: tuple[Hashable, ...],
    above: float | None,
) -> ErrorBound | None:
    """Return the bound on what a drawn key has fewer people than one that is left out."""
    if listed is None or above is not None:
        return None
    return error_bound(
        draw.of_one_round(k),
        candidates=len(listed) * max(1, len(groups)),
        bound=1,
        unit="people" if k == 1 else "people in each draw",
    )


def _label(draws: _Draws, *, unknown: bool) -> str:
    if not unknown:
        return repr(draws.draw)
    return f"LimitedDomain(epsilon={draws.draw.epsilon:g}, stop={draws.offset:.6g} above)"


def _public(*, known: bool, grouped: bool, above: bool) -> tuple[str, ...]:
    listed = ["the candidates"] * known + ["the groups"] * grouped
    return (*listed, "the threshold" if above else "k")


def _sizes(
    k: int | None,
    above: float | None,
    listed: tuple[Hashable, ...] | None,
    limit: int | None,
) -> tuple[int, int]:
    """Return ``k``, of a threshold that of all, and the candidates besides the stop."""
    if (k is None) == (above is None):
        raise ParameterError("give k or above, one of them")
    if above is not None:
        _validate.finite("above", above)
        if listed is None:
            raise ParameterError("above is for public candidates: see release_keys")
        k = len(listed)
    k = _validate.at_least("k", k, 1)
    if listed is None:
        width = max(10 * k, LEAST_LIMIT) if limit is None else limit
        width = _validate.at_least("limit", width, 1)
    elif limit is not None:
        raise ParameterError("limit is for a release without candidates: leave it out")
    else:
        width = len(listed)
    if k > width:
        what = "limit" if listed is None else "the number of candidates"
        raise ParameterError(f"k must be at most {what}, {width}, not {k}")
    return k, width
