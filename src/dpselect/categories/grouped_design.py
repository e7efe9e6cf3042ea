"""Releases of the most common keys of groups that are themselves released first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpselect import _validate
from dpselect.budget.amount import exact, floor
from dpselect.categories.asked import Question, changed_keys, checked_delta
from dpselect.categories.counts import PeoplePerKey
from dpselect.categories.keys_design import KeysDesign, design_keys
from dpselect.categories.release import KeyRelease
from dpselect.categories.top_design import TopDesign, design_top
from dpselect.errors import ParameterError
from dpselect.neighbours import NeighboursLike
from dpselect.passes import Pass
from dpselect.plan import Plan, Spend

GROUPS_SHARE = 0.2
"""Of epsilon, for the groups; half of delta is theirs where the keys need some too."""


@dataclass(frozen=True, slots=True)
class GroupedDesign:
    """The plan of both steps, and the second one as a function of the released groups.

    A person is in as many groups as keys are counted, and the keys that are counted are taken
    from the released groups: each step is private for the whole person, whatever the first
    one released, so their prices add up.

    Attributes:
        plan: What is spent on both.
        question: What is read.
        groups: Of the release of the groups.
        widest: Of the keys of as many groups as one person can change, with the most noise.
        within: Of the keys of public groups.
    """

    plan: Plan
    question: Question
    groups: KeysDesign
    widest: TopDesign
    within: Callable[[Sequence[Hashable]], TopDesign]

    def drawing(self, people: PeoplePerKey) -> Callable[[], KeyRelease]:
        """Return the draw of everything, after the reading of the groups."""
        draw_groups = self.groups.drawing(people.of_groups())

        def draw() -> KeyRelease:
            groups = draw_groups().answer
            if not groups:
                unused = floor(exact(self.plan.spends[-1].epsilon))
                none = KeyRelease(answer=(), plan=self.plan, exact=True, refunded=unused)
                return replace(none, groups=())
            found = self.within(groups).drawing(people.within(groups))()
            return replace(found, plan=self.plan, groups=groups)

        return draw


def design_release(
    *,
    group: str | None,
    groups: Iterable[Hashable] | None,
    groups_share: float | None,
    **asked: Any,  # noqa: ANN401 -- the arguments of design_top
) -> TopDesign | GroupedDesign:
    """Return what is decided of a release, with groups that are public or not, or without.

    Raises:
        ParameterError, NeighboursError: As for :func:`~dpselect.categories.plan_top`.
    """
    if group is not None and groups is None:
        share = GROUPS_SHARE if groups_share is None else groups_share
        return _design_grouped(group=group, groups_share=share, **asked)
    if groups_share is not None:
        raise ParameterError("groups_share is for a group without groups: leave it out")
    return design_top(group=group, groups=groups, **asked)


def _design_grouped(
    *,
    group: str,
    groups_share: float,
    candidates: Iterable[Hashable] | None,
    user: str | None,
    max_per_user: int | None,
    epsilon: float,
    delta: float,
    neighbours: NeighboursLike,
    **asked: Any,  # noqa: ANN401 -- other arguments of design_top
) -> GroupedDesign:
    if not 0 < _validate.finite("groups_share", groups_share) < 1:
        raise ParameterError("groups_share must be above 0 and below 1")
    epsilon, delta = _validate.positive("epsilon", epsilon), checked_delta(delta)
    listed = _validate.listed("candidates", candidates)
    first = design_keys(
        column=group,
        user=user,
        max_per_user=max_per_user,
        method=None,
        min_people=1,
        missing="drop",
        epsilon=epsilon * groups_share,
        delta=delta if listed is not None else delta / 2,
        neighbours=neighbours,
    )

    def within(groups: Sequence[Hashable]) -> TopDesign:
        return design_top(
            group=group,
            groups=groups,
            candidates=listed,
            user=user,
            max_per_user=max_per_user,
            epsilon=epsilon - first.plan.epsilon,
            delta=delta - first.plan.delta,
            neighbours=neighbours,
            **asked,
        )

    widest = within(range(changed_keys(first.question.max_per_user, first.plan.neighbours)))
    return GroupedDesign(
        plan=_plan_of_both(first.plan, widest, groups_share, epsilon=epsilon, delta=delta),
        question=replace(widest.question, groups=()),
        groups=first,
        widest=widest,
        within=within,
    )


def _plan_of_both(
    first: Plan, widest: TopDesign, share: float, *, epsilon: float, delta: float
) -> Plan:
    second = widest.plan
    if second.delta > delta - first.delta:
        raise ParameterError("where groups are released first, mechanism must cost no delta")
    of_each = widest.limit + (widest.candidates is None)
    what = f"{widest.k} keys" if widest.above is None else "the keys above a threshold"
    of_keys = Spend(f"{what} of each group, at most", second.epsilon, delta=second.delta)
    return replace(
        second,
        arguments={**second.arguments, "groups": None, "groups_share": share},
        mechanism=f"{first.mechanism} of groups, then {second.mechanism} in each",
        spends=(
            *(replace(spend, purpose=f"groups: {spend.purpose}") for spend in first.spends),
            of_keys,
        ),
        epsilon=epsilon,
        delta=delta,
        public=tuple(one for one in second.public if one != "the groups"),
        passes=(*first.passes, Pass(f"{of_each} for each group that is released")),
    )
