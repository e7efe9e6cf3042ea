"""The most common keys of groups that are themselves released first."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dpselect import validation
from dpselect.errors import ParameterError
from dpselect.keys.counts import KeyCounts, PeoplePerKey
from dpselect.keys.grouping import release_of_groups
from dpselect.keys.keys import KeysDesign
from dpselect.keys.question import changed_keys, checked_delta
from dpselect.keys.release import Chances, KeyRelease
from dpselect.keys.rest import price_of, without
from dpselect.plan import Plan, Spend

if TYPE_CHECKING:
    from dpselect.keys.top import TopDesign, TopKeys


@dataclass(frozen=True, kw_only=True)
class GroupedTop(KeyCounts):
    """Both steps, the second one as a function of the released groups.

    A person is in as many groups as keys are counted, and the keys that are counted are taken
    from the released groups: each step is private for the whole person, whatever the first
    one released, so their prices add up.

    Attributes:
        of_groups: The release of the groups.
        widest: Design of the keys of as many groups as one person can change, with the most
            noise.
        within: Design of the keys of public groups.
    """

    of_groups: KeysDesign
    widest: TopDesign
    within: Callable[[tuple[Hashable, ...]], TopDesign]

    def drawing(self, people: PeoplePerKey) -> Callable[[Plan], KeyRelease]:
        draw_groups = self.of_groups.drawing(people.of_groups())

        def draw(plan: Plan) -> KeyRelease:
            groups = draw_groups(plan).answer
            if not groups:
                return KeyRelease((), plan, groups=())
            return self.within(groups).drawing(people.within(groups))(plan)

        return draw

    def chances(self) -> tuple[Chances, ...]:
        """Return the chances of a group; all keys are public."""
        return (Chances("a group", self.of_groups.probabilities),)


def grouped(asked: TopKeys, design: Callable[[TopKeys], TopDesign]) -> GroupedTop:
    """Return the design of a release whose groups are not public.

    Args:
        asked: The query.
        design: Design of a query whose groups are public.
    """
    epsilon, delta = validation.positive("epsilon", asked.epsilon), checked_delta(asked.delta)
    first = release_of_groups(asked, delta)
    groups = first.plan
    within = replace(
        asked,
        groups=range(changed_keys(first.question.max_per_user, groups.neighbours)),
        groups_share=None,
        epsilon=epsilon - groups.epsilon,
        delta=0.0,
    )
    widest = design(within)
    each = widest.plan
    if each.delta > 0:
        raise ParameterError("where groups are released first, `mechanism` must cost no delta")
    k = widest.draw.k
    what = f"{k} keys" if widest.draw.above is None else "the keys above a threshold"
    return GroupedTop(
        plan=replace(
            each,
            mechanism=f"{groups.mechanism} of groups, then {each.mechanism} in each",
            spends=(
                *(replace(one, purpose=f"groups: {one.purpose}") for one in groups.spends),
                Spend(f"{what} of each group, at most", without(each.epsilon, widest.rest)),
                *price_of(widest.rest),
            ),
            epsilon=epsilon,
            delta=delta,
            public=tuple(one for one in each.public if one != "the groups"),
            passes=groups.passes + 1,
        ),
        exact=widest.exact,
        question=replace(widest.question, groups=()),
        of_groups=first,
        widest=widest,
        rest=widest.rest,
        within=lambda groups: design(replace(within, groups=groups)),
    )
