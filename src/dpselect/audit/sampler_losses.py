r"""Exact privacy losses of the samplers, given the private inputs from two databases.

===========================  ============================================================
sampler                      loss, for private inputs :math:`x` and :math:`y`
===========================  ============================================================
noisy maxima                 :math:`\frac{\varepsilon}{k} \sum \frac{\max d - \min d}{2\Delta}`
                             over the rounds, with :math:`d` the difference of the scores on
                             the grid of the candidates that are left
``discrete_laplace``         :math:`\lVert x - y \rVert_1 / \text{scale}`
``discrete_gaussian``        :math:`\rho = \lVert x - y \rVert_2^2 / 2\,\text{scale}^2`, which
                             is converted to a delta
``flipped``                  :math:`\ln((1-\rho)/\rho)` for each bit that differs
``exceeds``                  :math:`\sum \ln P_x(b)/P_y(b)` over the decisions :math:`b` that
                             were drawn
``first_above``              :math:`\ln P_x(o)/P_y(o)` at the output :math:`o` that was drawn
``swapped``, ``joined``      :math:`\delta(\varepsilon)`, from the exact laws of both
===========================  ============================================================

A noisy maximum depends on the scores up to a common translation, which is why half the
spread counts: two equal shifts of all scores are no loss. Decisions by a noisy threshold are
bounded along a whole path of decisions only (see ``dpselect.spatial.privtree``), so theirs
is the loss of the outputs that were drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, expm1, fsum, inf, isinf, log, log1p
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.draws import above_threshold
from dpselect.draws.grid import SENSITIVITY, to_grid
from dpselect.draws.swaps import DistanceLaw
from dpselect.typing import Indices, Values


@dataclass(frozen=True, slots=True)
class Loss:
    r"""The privacy loss of one draw.

    Attributes:
        pure: The largest log ratio of the two laws over all outputs, in both directions; nats.
        delta: :math:`\delta(\varepsilon)`, the larger of both directions; None where only the
            pure loss is known.
        drawn: The log ratio of the two laws at the output that was drawn, where no single
            draw has a useful bound; ``pure`` is 0 then.
        rho: The zCDP parameter of a draw without a pure loss, whose delta is that of the sum
            of these; ``pure`` is 0 then.
    """

    pure: float
    delta: Callable[[float], float] | None = None
    drawn: float = 0.0
    rho: float = 0.0


LossFunction: TypeAlias = Callable[[Any, Any, Mapping[str, Any], Any], Loss | None]
"""Called with both private inputs, the public arguments and the output; None if a public
part of the inputs, such as their number, differs."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The parts of a sampler's arguments, and its loss.

    Attributes:
        parameters: Names of all parameters, in order.
        private: The one that is private.
        loss: The loss.
    """

    parameters: tuple[str, ...]
    private: str
    loss: LossFunction


def noisy_maximum(
    here: Values, there: Values, public: Mapping[str, Any], chosen: list[int]
) -> Loss | None:
    """Return the loss of ``k`` rounds of a noisy maximum."""
    if np.shape(here) != np.shape(there):
        return None
    moved = to_grid(np.asarray(here)) - to_grid(np.asarray(there))
    left = np.ones(moved.size, dtype=np.bool_)
    spread = 0
    for position in chosen:
        spread += int(np.ptp(moved[left]))
        left[position] = False
    return Loss(public["epsilon"] / public["k"] * spread / (2 * SENSITIVITY))


def discrete_laplace(
    here: Indices, there: Indices, public: Mapping[str, Any], _: Indices
) -> Loss | None:
    """Return the loss of independent noise on counts."""
    if np.shape(here) != np.shape(there):
        return None
    moved = np.asarray(here).astype(object) - np.asarray(there).astype(object)
    return Loss(int(np.abs(moved).sum()) / public["scale"])


def discrete_gaussian(
    here: Indices, there: Indices, public: Mapping[str, Any], _: Indices
) -> Loss | None:
    """Return the loss of independent Gaussian noise on counts."""
    if np.shape(here) != np.shape(there):
        return None
    moved = np.asarray(here).astype(object) - np.asarray(there).astype(object)
    return Loss(0.0, rho=int((moved**2).sum()) / (2 * public["scale"] ** 2))


def exceeds(
    here: Indices, there: Indices, public: Mapping[str, Any], above: NDArray[np.bool_]
) -> Loss | None:
    """Return the loss of noisy decisions, at the decisions that were drawn."""
    if np.shape(here) != np.shape(there):
        return None
    logs = [
        _log_decision(public["threshold"] - np.asarray(counts), public["scale"], above)
        for counts in (here, there)
    ]
    return Loss(0.0, drawn=fsum(logs[0] - logs[1]))


def _log_decision(below: Indices, scale: float, above: NDArray[np.bool_]) -> Values:
    r"""Return the log probability of each decision, for counts so far below the threshold.

    :math:`P(Z > m) = q^{m+1}/(1+q)` for an integer :math:`m \ge 0`, and :math:`Z` is symmetric.
    """
    # "Not above" is -Z > -m - 1.
    m = np.where(above, below, -below - 1)
    side = log1p(exp(-1 / scale))
    tail = -(np.maximum(m, 0) + 1) / scale - side
    rest = np.log1p(-np.exp(np.minimum(m, -1) / scale - side))
    return np.where(m >= 0, tail, rest)


def first_above(
    here: Indices, there: Indices, public: Mapping[str, Any], found: list[int]
) -> Loss | None:
    """Return the loss of AboveThreshold, at the positions that were drawn."""
    if np.shape(here) != np.shape(there):
        return None
    logs = [
        above_threshold.log_probability(np.asarray(queries), **public, found=found)
        for queries in (here, there)
    ]
    return Loss(0.0, drawn=logs[0] - logs[1])


def flipped(
    here: list[bool], there: list[bool], public: Mapping[str, Any], _: list[bool]
) -> Loss | None:
    """Return the loss of independent flips."""
    if len(here) != len(there):
        return None
    differ = sum(bool(a) != bool(b) for a, b in zip(here, there, strict=True))
    chance = Fraction(public["chance"])
    if differ == 0:
        return Loss(0.0)
    over, under = chance.numerator, chance.denominator - chance.numerator
    return Loss(differ * abs(log(under) - log(over)) if over and under else inf)


def swapped(
    here: list[int], there: list[int], public: Mapping[str, Any], _: list[int]
) -> Loss | None:
    """Return the loss of a retrieval; the number of members may differ."""
    law: DistanceLaw = public["law"]
    common, only_here, only_there = _parts(here, there)
    rest = law.n - common - only_here - only_there
    a, b, c = np.indices((common + 1, only_here + 1, only_there + 1)).reshape(3, -1)
    others = law.d - a - b - c
    possible = (others >= 0) & (others <= rest)
    a, b, c, others = (part[possible] for part in (a, b, c, others))
    outputs = _log_binomial(common, a) + _log_binomial(only_here, b)
    outputs += _log_binomial(only_there, c) + _log_binomial(rest, others)
    return _of_laws(
        outputs,
        _log_law_of_swaps(len(here), law)[a + b],
        _log_law_of_swaps(len(there), law)[a + c],
    )


def joined(
    here: list[int], there: list[int], public: Mapping[str, Any], _: list[int]
) -> Loss | None:
    """Return the loss of members hidden among ``beta`` uniform people."""
    n, beta = public["n"], public["beta"]
    common, only_here, only_there = _parts(here, there)
    union = common + only_here + only_there
    more = np.arange(n - union + 1)
    logs = [
        _log_binomial(size, beta - (union + more - size)) - log(comb(n, beta))
        for size in (len(here), len(there))
    ]
    outputs = _log_binomial(n - union, more)
    both = [outputs, *logs]
    # Outputs that miss somebody who is a member of one database alone.
    for side, missing in enumerate((only_there, only_here)):
        mass = 1 - fsum(np.exp(outputs + logs[side]))
        if missing and mass > 0:
            lost = [0.0, -inf, -inf]
            lost[1 + side] = log(mass)
            both = [np.append(logs_, one) for logs_, one in zip(both, lost, strict=True)]
    return _of_laws(*both)


def _of_laws(outputs: Values, here: Values, there: Values) -> Loss:
    """Return the loss between two laws, by kinds of outputs.

    Args:
        outputs: Log of the number of outputs of each kind.
        here: Log of the probability of each output of that kind, for one database.
        there: The same for the other one.
    """
    possible = (here > -inf) | (there > -inf)
    outputs, here, there = outputs[possible], here[possible], there[possible]
    pure = float(np.abs(here - there).max(initial=0.0))

    def delta(epsilon: float) -> float:
        return max(
            _hockey_stick(outputs, *pair, epsilon)
            for pair in (
                (here, there),
                (there, here),
            )
        )

    return Loss(pure, delta)


def _hockey_stick(outputs: Values, here: Values, there: Values, epsilon: float) -> float:
    total = []
    for number, p, q in zip(outputs, here, there, strict=True):
        if p - q > epsilon:
            share = 1.0 if isinf(q) else -expm1(epsilon + q - p)
            total.append(exp(number + p) * share)
    return fsum(total)


def _log_law_of_swaps(members: int, law: DistanceLaw) -> Values:
    """Return the log probability of an output, by how many members are in it.

    Given an output with ``i`` members, the subset that was brought to size ``d`` has a
    hypergeometric number of people in common with it.
    """
    weights = law.log_weights()
    logs = np.full(min(members, law.d) + 1, -inf)
    for i in range(logs.size):
        if members >= law.d:
            shared = np.arange(i + 1)
            chance = _log_binomial(i, shared) + _log_binomial(members - i, law.d - shared)
            chance -= _log_binomial(members, np.array(law.d))
        else:
            added = np.arange(law.d - i + 1)
            outside, more = law.n - members, law.d - members
            chance = _log_binomial(law.d - i, added)
            chance = chance + _log_binomial(outside - (law.d - i), more - added)
            chance -= _log_binomial(outside, np.array(more))
            shared = i + added
        distance = law.d - shared
        reachable = (chance > -inf) & (distance < weights.size)
        if reachable.any():
            logs[i] = np.logaddexp.reduce(chance[reachable] + weights[distance[reachable]])
    return logs


def _log_binomial(n: int, k: Indices) -> Values:
    """Return the log of binomial coefficients, minus infinity outside of the triangle."""
    from scipy.special import gammaln

    inside = (k >= 0) & (k <= n) & (n >= 0)
    at = np.where(inside, k, 0)
    # max: outside of the triangle nothing is computed from it.
    size = max(n, 0)
    logs = gammaln(size + 1.0) - gammaln(at + 1.0) - gammaln(np.maximum(size - at, 0) + 1.0)
    return np.where(inside, logs, -inf)


def _parts(here: list[int], there: list[int]) -> tuple[int, int, int]:
    """Return how many members two databases share, and how many each has alone."""
    one, other = set(here), set(there)
    return len(one & other), len(one - other), len(other - one)


_MAXIMUM = Rule(("scores", "epsilon", "k"), "scores", noisy_maximum)

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "dpselect.draws.selection.top_k_exponential_noise": _MAXIMUM,
        "dpselect.draws.selection.top_k_gumbel_noise": _MAXIMUM,
        "dpselect.draws.selection.top_k_laplace_noise": _MAXIMUM,
        "dpselect.draws.noisy_counts.discrete_laplace": Rule(
            ("counts", "scale"), "counts", discrete_laplace
        ),
        "dpselect.draws.noisy_counts.discrete_gaussian": Rule(
            ("counts", "scale"), "counts", discrete_gaussian
        ),
        "dpselect.draws.noisy_counts.exceeds": Rule(
            ("counts", "threshold", "scale"), "counts", exceeds
        ),
        "dpselect.draws.above_threshold.first_above": Rule(
            ("queries", "threshold", "threshold_scale", "query_scale", "stops"),
            "queries",
            first_above,
        ),
        "dpselect.draws.uniform.flipped": Rule(("bits", "chance"), "bits", flipped),
        "dpselect.draws.subsets.swapped": Rule(("members", "law"), "members", swapped),
        "dpselect.draws.subsets.joined": Rule(("members", "n", "beta"), "members", joined),
    }
)
"""The rules of samplers whose output may be published, by name."""

SECRET = frozenset(
    {
        "dpselect.draws.repetitions.draw_number",
        "dpselect.draws.swaps.draw_distance",
        "dpselect.draws.uniform.positions",
        "dpselect.draws.uniform.sample",
    }
)
"""Samplers without a private input: their output protects only while it is secret."""

BEST_OF = "dpselect.draws.repetitions.best_of"
SCOPES = frozenset({BEST_OF, "dpselect.draws.repetitions.one_run"})
"""Runs repeated a hidden number of times, and each one: a replay compares run by run."""

UNKNOWN = frozenset(
    {
        "dpselect.draws.coins.select",
        "dpselect.draws.pieces.draw_position",
    }
)
"""Samplers without a rule: a replay that meets one says so and fails."""
