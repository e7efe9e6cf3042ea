"""The privacy filter: the sequences of spends that stay within a budget's totals.

An analyst chooses each release after seeing the ones before it, its parameters included. A
*privacy filter* is a rule that, whatever they choose, keeps the whole within (ε, δ)-DP. Write
``ε_i, δ_i, ρ_i`` for the cost of release i. There is one rule. It splits δ into ``δ_s + δ_z``
when the budget is made, and admits a release if after it

    ∑ δ_i ≤ δ_s and (∑ ε_i ≤ ε or ∑ ρ_i converts to at most ε at δ_z).

``either`` has ``δ_s = δ_z = δ/2``; it admits whatever one of the other two admits with its
half. ``sum`` has ``δ_z = 0``: epsilons and deltas add up. ``zcdp`` has ``δ_s = 0``: no release
may have a delta, and all of it is there to convert. Half of delta costs either side little:
noise and thresholds grow with ``ln(1/δ)``, of which a factor 2 is five per cent at ``10^-6``,
and the converted epsilon with its square root. Sums do not depend on an order, so whether all
of some releases fit does not either.

Guarantee:
    The transcript of all releases, refusals included, is (ε, δ)-DP under the budget's neighbour
    relation against an adaptive analyst.

A release may be *refunded*: its price depends on its outcome. It is spent for ``ε_i`` and, when
its outcome o is known, ``ε_i - c_i(o)`` is given back, once; ``ρ_i, δ_i`` stay. What it must
keep is, for every two neighbours in either order, ``∑_o [P(o) - e^(c_i(o)) Q(o)]_+ ≤ δ_i`` with
``0 ≤ c_i(o) ≤ ε_i``, and ``ρ_i``-zCDP if ``δ_i = 0``. Without a refund ``c_i = ε_i`` and this
is ``(ε_i, δ_i)``-DP. The sums of the rule are those of the net epsilons at every admission.

Lemma. Let P, Q be the distributions of such a release on two neighbours. There are measures
``P° ≤ P``, ``Q° ≤ Q`` of one mass, at least ``1 - δ_i``, with ``e^(-c_i(o)) Q°(o) ≤ P°(o) ≤
e^(c_i(o)) Q°(o)`` for every o; made probabilities, they are ``ρ_i``-zCDP, where beside a delta
``ρ_i`` is what ``ε_i`` implies (``rho_of_pure``). Proof. With ``δ_i = 0`` they are P and Q.
Else let ``P' = min(P, e^(c_i) Q)`` and ``Q' = min(Q, e^(c_i) P)``. Both have a mass of at least
``1 - δ_i``, and ``P' ≤ e^(c_i) Q'``, ``Q' ≤ e^(c_i) P'``. Let P' be the one of larger mass. The
mass of Q' lies between those of ``e^(-c_i) Q'`` and P', and ``e^(-c_i) Q' ≤ P'``; so some
``P°`` between these two has it, and ``Q° = Q'``. Of equal mass, they keep their factors, at
most ``e^(ε_i)``, when they are made probabilities.

Proof of the guarantee. Fix the analyst's strategy (a random one is a mixture) and two
neighbours; let P and Q be the distributions of the transcript. Put ``P°_i, Q°_i`` of the lemma
for the distributions of every release, given what was drawn before: on a path y their products
are ``P°(y) ≤ P(y)`` and ``Q°(y) ≤ Q(y)``. Which releases are admitted, and so their ``δ_i``, is
determined by the outcomes before. Release i takes at most ``δ_i`` off the mass of the paths
that came to it, and these sum up to at most ``δ_s`` along each path, so ``∑_y P(y) - P°(y) ≤
δ_s``, and

    ∑_y [P(y) - e^ε Q(y)]_+ ≤ δ_s + ∑_y [P°(y) - e^ε Q°(y)]_+.

On a path y the product of the factors is at most ``e^(∑ c_i(o_i))``, where ``∑ c_i(o_i)`` is at
most the net sum at the last admission. If that is at most ε, y adds nothing. Any other y was
admitted last by the zCDP limit and, sums of rho being monotone, within it all along. So the
filter with the limits of delta and of zCDP alone admits and refuses the same along y. Let ``P̂,
Q̂`` be the distributions of its transcript where each release draws from the ``P°_i, Q°_i``
made probabilities. It is ``(ε, δ_z)``-DP (Feldman & Zrnic 2021, arXiv:2008.11193, for each
Renyi order). ``P°(y)`` and ``Q°(y)`` are ``P̂(y)`` and ``Q̂(y)`` times the same product of
masses, at most 1; so these y add at most ``δ_z`` together.

Why ``δ_s + δ_z`` cannot be more than δ: few paths with a large loss may use up ``δ_z``, while
all others buy failures worth ``δ_s``. The tests let the best analyst play that game by exact
enumeration, also against rules that are wrong.

Sources: sums, Rogers, Roth, Ullman & Vadhan 2016, arXiv:1605.08294; prices by outcome, Ligett,
Neel, Roth, Waggoner & Wu 2017, arXiv:1705.10829, and for selection Durfee & Rogers 2019,
arXiv:1905.04273, Theorem 2.

Shares of a budget are filters of their own, whose totals add up to its own. Releases of several
take turns as the analysts like: what each filter lets through is an interactive mechanism that
is ``(ε_a, δ_a)``-DP, and such compose like those that are not interactive (Lyu 2022,
arXiv:2207.09397), here by their sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from sys import float_info
from typing import Self

from dpselect._numbers import exact, floor
from dpselect.budget import zcdp
from dpselect.budget.entry import Entry
from dpselect.budget.totals import Totals, part
from dpselect.errors import InsufficientBudgetError

FOR_SPENDS = {"sum": Fraction(1), "zcdp": Fraction(), "either": Fraction(1, 2)}
"""The part of delta that is for the deltas of spends, by composition."""


@dataclass(frozen=True, slots=True)
class Sums:
    """All that a privacy filter looks at of the spends so far.

    Attributes:
        epsilon: Sum of all epsilons, less what was refunded.
        delta: Sum of all deltas.
        rho: Sum of all rhos.
        refunded: Sum of all refunds.
    """

    epsilon: Fraction = Fraction()
    delta: Fraction = Fraction()
    rho: Fraction = Fraction()
    refunded: Fraction = Fraction()

    def plus(self, cost: Entry) -> Self:
        """Return the sums with one spend more."""
        spent = type(self)(
            self.epsilon + exact(cost.epsilon),
            self.delta + exact(cost.delta),
            self.rho + exact(cost.rho),
            self.refunded,
        )
        return spent.less(cost.refunded) if cost.refunded else spent

    def less(self, epsilon: float) -> Self:
        """Return the sums after a refund."""
        given = exact(epsilon)
        return replace(self, epsilon=self.epsilon - given, refunded=self.refunded + given)


def spent(totals: Totals, sums: Sums) -> Fraction:
    """Return the epsilon that the spends amount to, in nats: by their sum, or by zCDP."""
    part = 1 - FOR_SPENDS[totals.composition]
    if part == 0:
        return sums.epsilon
    rho = float(min(sums.rho, Fraction(float_info.max)))
    converted = zcdp.epsilon_of(rho, totals.delta * float(part))
    return sums.epsilon if converted == inf else min(sums.epsilon, Fraction(converted))


def remaining(totals: Totals, sums: Sums) -> float:
    """Return the epsilon that is left, in nats, >= 0, rounded down."""
    return floor(max(Fraction(), exact(totals.epsilon) - spent(totals, sums)))


def admit(totals: Totals, sums: Sums, new: Entry) -> Sums:
    """Return the sums with ``new``, or refuse it.

    Raises:
        InsufficientBudgetError: ``new`` does not fit.
    """
    after = sums.plus(new)
    granted = FOR_SPENDS[totals.composition] * exact(totals.delta)
    if new.delta > totals.delta == 0:
        raise InsufficientBudgetError(
            f"this budget was made without a `delta`, and the release needs {new.delta!r}"
        )
    if new.delta > 0 and after.delta > granted:
        kept = ""
        if granted < exact(totals.delta):
            kept = (
                f"; the rest of the total {totals.delta!r} is used for composition by zCDP: "
                "give a smaller `delta`, or make a budget with `composition`=sum"
            )
        raise InsufficientBudgetError(
            f"delta does not suffice: available for releases {float(granted)!r}, "
            f"spent {float(sums.delta)!r}, requested {new.delta!r}, "
            f"remaining {floor(granted - sums.delta)!r}{kept}"
        )
    if spent(totals, after) > exact(totals.epsilon):
        by_zcdp = "" if spent(totals, sums) == sums.epsilon else BY_ZCDP
        raise InsufficientBudgetError(
            f"epsilon does not suffice: total {totals.epsilon!r}, "
            f"spent {float(spent(totals, sums))!r}, requested {new.epsilon!r}, "
            f"remaining {remaining(totals, sums)!r}{by_zcdp}"
        )
    return after


BY_ZCDP = (
    "; under zCDP the price of a spend depends on the others, and together they exceed the "
    "total"
)


@dataclass(frozen=True, slots=True)
class Pot:
    """Amounts of a share of a budget in the current period.

    Attributes:
        share: Whose it is; empty for all who have none, or if there are no shares.
        epsilon: What it grants, in nats.
        delta: What it grants.
        spent: Epsilon that its spends amount to.
        remaining: ``epsilon - spent``, rounded down.
    """

    share: str
    epsilon: float
    delta: float
    spent: float
    remaining: float

    @classmethod
    def of(cls, totals: Totals, share: str, sums: Sums) -> Self:
        """Return the pot of a share whose spends have these sums."""
        granted = part(totals, share)
        left = remaining(granted, sums)
        return cls(share, granted.epsilon, granted.delta, float(spent(granted, sums)), left)
