r"""Privacy filters: the sequences of spends that stay within a budget's totals.

An analyst chooses each release after seeing the ones before it, its parameters included. A
*privacy filter* is a rule that, whatever they choose, keeps the whole within
:math:`(\varepsilon, \delta)`-DP. Write :math:`\varepsilon_i, \delta_i, \rho_i` for the cost of
release i. There are three rules; nothing that was released decides between them.

``pure``, for a budget with :math:`\delta = 0`: all :math:`\delta_i = 0` and
:math:`\sum \varepsilon_i \le \varepsilon`.

``zcdp``, for a budget with :math:`\delta > 0` whose first spend has :math:`\delta_1 = 0`: all
:math:`\delta_i = 0`, and EITHER :math:`\sum \varepsilon_i \le \varepsilon` OR
:math:`\sum \rho_i` converts to at most :math:`\varepsilon` at :math:`\delta`.

``basic``, for a budget with :math:`\delta > 0` whose first spend has :math:`\delta_1 > 0`:
:math:`\sum \varepsilon_i \le \varepsilon` and :math:`\sum \delta_i \le \delta`.

Guarantee:
    The transcript of all releases, refusals included, is :math:`(\varepsilon, \delta)`-DP
    under the budget's neighbour relation against an adaptive analyst.

Proof. ``pure`` and ``basic``: losses, and probabilities of failure, add along each path
(Rogers, Roth, Ullman & Vadhan 2016, arXiv:1605.08294).
For ``zcdp`` let P and Q be the laws of the transcript on two neighbours; we bound
:math:`\sum_y [P(y) - e^\varepsilon Q(y)]_+`. A path y that ends with
:math:`\sum \varepsilon_i \le \varepsilon` has :math:`P(y) \le e^\varepsilon Q(y)` and adds
nothing. Any other y ends within the zCDP limit and, sums being monotone, was within it all
along. So the mechanism that stops by the zCDP limit alone accepts and refuses the same
requests along y and gives y the same P(y) and Q(y). It is
:math:`(\varepsilon, \delta)`-DP (Feldman & Zrnic 2021, arXiv:2008.11193, for each Renyi
order), so these y add at most :math:`\delta`.

Refunds: the price of a release may depend on its outcome. Let release i cost at most
:math:`c_i(o)` and :math:`\delta_i`: for every two neighbours in either order
:math:`\sum_o [P(o) - e^{c_i(o)} Q(o)]_+ \le \delta_i`, as where
:math:`P(o) \le e^{c_i(o)} Q(o)` outside of an event of probability :math:`\delta_i`. It is
spent for :math:`\varepsilon_i \ge c_i`, and refunded :math:`\varepsilon_i - c_i(o)` when ``o``
is known; :math:`\rho_i, \delta_i` stay. All rules then hold with the net epsilons at every
admission, and the guarantee is the same. For let :math:`P' = \min(P, e^{c_i} Q)` at every step.
Along each path the product of the :math:`P'` is at most :math:`e^{\sum c_i(o_i)}` times that of
the :math:`Q`, and :math:`\sum c_i(o_i)` is at most the net sum, as that of the last admission
was and refunds are given once. Which requests are admitted, and so which :math:`\delta_i` there
are, is determined by the outcomes. Step i takes at most :math:`\delta_i` off the mass of the
paths that came to it, together at most :math:`E \sum \delta_i \le \delta`. A spend that is
not refunded yet, or never because its process died, counts in full. (Prices by outcome:
Ligett, Neel, Roth, Waggoner & Wu 2017, arXiv:1705.10829; for selection Durfee & Rogers 2019,
arXiv:1905.04273, Theorem 2.)

Why the rules do not mix: under ``zcdp`` the paths with a large loss may use up all of
:math:`\delta`. If paths with a small loss could still buy failures, which count in full
there, the two could add up to more than :math:`\delta`. The first spend may choose the rule
because nothing had been released before it.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Literal, TypeAlias

from dpselect.budget import zcdp
from dpselect.budget.amount import exact, floor
from dpselect.budget.entry import Cost, Totals
from dpselect.budget.sums import Sums
from dpselect.errors import InsufficientBudgetError

Composition: TypeAlias = Literal["pure", "basic", "zcdp"]


def composition(totals: Totals, sums: Sums) -> Composition:
    """Return the rule that the spends are added up by."""
    if totals.delta == 0:
        return "pure"
    return "basic" if sums.first_delta > 0 else "zcdp"


def spent(totals: Totals, sums: Sums) -> Fraction:
    """Return the epsilon that the spends amount to, in nats, under their rule."""
    if composition(totals, sums) != "zcdp":
        return sums.epsilon
    converted = zcdp.epsilon_of(_total_rho(sums), totals.delta)
    return sums.epsilon if converted == inf else min(sums.epsilon, Fraction(converted))


def remaining(totals: Totals, sums: Sums) -> float:
    """Return the epsilon that is left, in nats, >= 0, rounded down."""
    return floor(max(Fraction(), exact(totals.epsilon) - spent(totals, sums)))


def admit(totals: Totals, sums: Sums, new: Cost) -> Sums:
    """Return the sums with ``new``, or refuse it.

    Raises:
        InsufficientBudgetError: ``new`` does not fit.
    """
    after = sums.plus(new)
    _admit_delta(totals, sums, after, new)
    if spent(totals, after) > exact(totals.epsilon):
        raise InsufficientBudgetError(_too_much_epsilon(totals, sums, new))
    return after


def _admit_delta(totals: Totals, sums: Sums, after: Sums, new: Cost) -> None:
    if new.delta == 0:
        return
    rule = composition(totals, after)
    granted = exact(totals.delta) if rule == "basic" else Fraction()
    if after.delta <= granted:
        return
    reason = ""
    if rule == "zcdp":
        reason = (
            f"; all of delta {totals.delta!r} is used to compose spends without one, as "
            "the first spend was; give spends with a delta of their own another budget"
        )
    raise InsufficientBudgetError(
        f"delta does not suffice: total {float(granted)!r}, spent {float(sums.delta)!r}, "
        f"requested {new.delta!r}, remaining {floor(granted - sums.delta)!r}{reason}"
    )


def _too_much_epsilon(totals: Totals, sums: Sums, new: Cost) -> str:
    message = (
        f"epsilon does not suffice: total {totals.epsilon!r}, "
        f"spent {float(spent(totals, sums))!r}, requested {new.epsilon!r}, "
        f"remaining {remaining(totals, sums)!r}"
    )
    if composition(totals, sums) == "zcdp":
        message += (
            "; under zCDP the price of a spend depends on the others, and together they "
            "exceed the total"
        )
    return message


def _total_rho(sums: Sums) -> float:
    try:
        return float(sums.rho)
    except OverflowError:
        return inf
