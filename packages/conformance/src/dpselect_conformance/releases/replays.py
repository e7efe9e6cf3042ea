"""Replay of a release on a neighbouring database, with all noisy outputs frozen.

The release is run on one database and every output of a sampler is recorded. It is then run
on the neighbour, where every sampler returns what it returned before. Since the past is the
same in both runs, the privacy loss of the whole is at most the sum of the losses that the
inputs of each draw have for the past that was drawn (adaptive composition along this path),
and whatever else depends on the data shows: other public arguments of a sampler, another
number of draws, another outcome.

Where the best of a hidden number of runs is released, that number and the choices are frozen,
the losses are added up run by run, and the whole is charged what Theorem 47 of
``docs/report`` states for the largest of them.

Only samplers of ``dpselect.draws.exact`` are frozen. Of other noise, such as NumPy's, no loss
is known: it passes where a seed makes it the same in both runs and the outcomes agree. A
release that draws from no sampler, says that it is not exact, or draws in several threads
fails, since nothing follows from its replay.

One replay looks at one pair of databases and one path of outputs. It proves nothing about
others; a fault that it shows is real.

Source: the idea is that of Re:cord-play, arXiv:2602.17454.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from math import fsum, inf, sqrt
from threading import get_ident
from typing import Any, TypeAlias, TypeVar

from dpselect import Plan
from dpselect.errors import ParameterError
from dpselect.extend import (
    ROUNDING,
    SCOPES,
    Loss,
    delta_of,
    delta_of_gaussian,
    intercepted,
    plan_of,
    rho_of_pure,
    secret,
    validation,
)
from dpselect_conformance.releases.losses import joined
from dpselect_conformance.releases.outcomes import difference
from dpselect_conformance.releases.sampler_losses import loss_of, rule_of
from dpselect_conformance.report import Report

T = TypeVar("T")
Sampling: TypeAlias = Callable[[], Any]
Args: TypeAlias = tuple[Any, ...]
Kwargs: TypeAlias = dict[str, Any]

DELTA_ROUNDING = 1e-6
"""Relative error of a delta that is computed from logarithms of binomial coefficients."""


@dataclass(frozen=True, slots=True)
class ReplayReport(Report):
    """The outcome of ``replay``; ``print`` shows it, without a value of the databases.

    Attributes:
        problems: The problems found, one sentence each; empty if there are none.
        epsilon_used: Privacy loss of all draws for these inputs, in nats. Where a delta is
            needed, the plan's epsilon.
        delta_used: The delta that is needed in addition to ``epsilon_used``.
        epsilon: Epsilon of the plan.
        delta: Delta of the plan.
        draws: Names of the samplers that ran, in order.
    """

    problems: tuple[str, ...]
    epsilon_used: float
    delta_used: float
    epsilon: float
    delta: float
    draws: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    @property
    def share(self) -> float:
        """The larger share of epsilon or delta that this pair uses on this path."""
        return max(_share(self.epsilon_used, self.epsilon), _share(self.delta_used, self.delta))

    def __str__(self) -> str:
        if not self.ok:
            return "NOT private as planned: " + "; ".join(self.problems)
        delta = f", delta {self.delta_used:.3g} of {self.delta:.3g}" if self.delta else ""
        return (
            f"as planned on this pair: epsilon {self.epsilon_used:.4g} of "
            f"{self.epsilon:.4g}{delta}, in {len(self.draws)} draws"
        )


def replay(
    release: Callable[[T], object], x: T, y: T, *, plan: Plan | None = None
) -> ReplayReport:
    """Run a release on a database, and again on a neighbour with the same noisy outputs.

    Only noise of ``dpselect.draws`` in this process is seen. Noise of NumPy passes unnoticed if
    a seed makes it the same in both runs and the outcomes agree.

    Checked are: the samplers and their number; their public arguments (epsilon, scale, k,
    distributions, the number of candidates or counts); the plans; the two outcomes, which must
    be equal since they may depend on the noisy outputs alone (labels, candidates and bounds
    included); the exact privacy losses of all draws, together at most the plan's epsilon and
    delta; and, where it states no delta, their zCDP parameters, at most its rho. There must be
    a draw, in one thread, and the outcome may not state that it is not exact, as that of a
    custom ``Draw`` does.

    Args:
        release: Makes one release of a database, without a budget. Use synthetic data.
        x: A database.
        y: A neighbour of it, under the relation of the plan. ``release`` may not change
            either.
        plan: The plan of the release, if its outcome has none as ``plan_`` or ``plan``.

    Returns:
        A report on this pair and on the outputs that were drawn; call it on many pairs.

    Raises:
        ParameterError: The outcome carries no plan and none is given, or one is no ``Plan``.

    Examples:
        >>> import dpselect as dp
        >>> def favourite(votes):
        ...     tally = [votes.count(name) for name in "abc"]
        ...     one_vote = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        ...     return dp.PermuteAndFlip(epsilon=1.0).release(
        ...         dp.Objective(tally, one_vote, candidates="abc")
        ...     )
        >>> print(replay(favourite, "aabc", "aabcc"))
        as planned on this pair: epsilon 0.5 of 1, in 1 draws
    """
    if plan is not None:
        validation.instance("plan", plan, Plan)
    recorded = _Recording()
    with intercepted(recorded.handle):
        outcome = release(x)
    stated = plan_of(outcome) if plan is None else plan
    if stated is None:
        raise ParameterError("the outcome of the release carries no plan; give plan=")
    replayed = _Replay(recorded.draws)
    problems = [*_unseen(recorded, outcome), *_run_again(release, y, replayed, outcome)]
    epsilon, delta = compose(replayed.losses, stated.epsilon, stated.delta)
    problems += _over(epsilon, delta, rho_of(replayed.losses), stated)
    return ReplayReport(
        problems=tuple(problems),
        epsilon_used=epsilon,
        delta_used=delta,
        epsilon=stated.epsilon,
        delta=stated.delta,
        draws=tuple(draw.name for draw in recorded.draws),
    )


def _unseen(recorded: _Recording, outcome: object) -> Iterator[str]:
    """Yield why nothing would follow from a replay without a fault."""
    if not recorded.draws:
        yield "no sampler of dpselect.draws.exact ran"
    if len(recorded.threads) > 1:
        yield "draws ran in several threads: they have no order"
    if getattr(outcome, "exact", True) is False:
        yield "the outcome says that it was not drawn by exact samplers alone"


def compose(losses: Sequence[Loss], epsilon: float, delta: float) -> tuple[float, float]:
    """Return the epsilon and delta that several draws use of what is stated.

    Pure losses add up, and the rho of draws that have one. If they are above ``epsilon``, or
    there is a rho, and a delta is stated, draws that have a delta of their own share what the
    others leave of epsilon equally; those whose distributions are known count as one.
    """
    losses = joined(losses)
    drawn = abs(fsum(loss.drawn for loss in losses))
    pure = fsum(loss.pure for loss in losses) + drawn
    normal = fsum(loss.normal for loss in losses)
    rho = fsum(loss.rho for loss in losses)
    curves = [loss.delta for loss in losses if loss.delta is not None]
    if rho > 0:
        curves.append(lambda left: delta_of(rho + normal, left))
    elif normal > 0:
        curves.append(lambda left: delta_of_gaussian(sqrt(2 * normal), left))
    elif pure <= epsilon * (1 + ROUNDING):
        return pure, 0.0
    if delta == 0 or not curves:
        return inf if rho + normal > 0 else pure, 0.0
    left = epsilon - drawn - fsum(loss.pure for loss in losses if loss.delta is None)
    if left < 0:
        return pure, 0.0
    return epsilon, fsum(curve(left / len(curves)) for curve in curves)


def rho_of(losses: Sequence[Loss]) -> float:
    """Return the zCDP parameter of several draws, of which those by a path have none."""
    return fsum(
        loss.rho + loss.normal + (rho_of_pure(loss.pure) if one is None else one)
        for loss in losses
        for one in [0.0 if loss.pure == 0 else loss.zcdp]
    )


def _over(epsilon: float, delta: float, rho: float, plan: Plan) -> Iterator[str]:
    if epsilon > plan.epsilon * (1 + ROUNDING):
        yield f"the draws use epsilon {epsilon:.6g}, the plan states {plan.epsilon:.6g}"
    if delta > plan.delta * (1 + DELTA_ROUNDING):
        yield f"the draws use delta {delta:.6g}, the plan states {plan.delta:.6g}"
    # Beside a delta no rho is charged but what epsilon implies.
    if plan.delta == 0 and rho > plan.rho * (1 + ROUNDING):
        yield f"the draws use rho {rho:.6g}, the plan states {plan.rho:.6g}"


def _run_again(
    release: Callable[[T], object], y: T, replayed: _Replay, outcome: object
) -> Iterator[str]:
    """Yield what the second run shows, but for the losses."""
    try:
        with intercepted(replayed.handle):
            other = release(y)
    except _DivergedError:
        yield from replayed.problems
        return
    except Exception as error:  # noqa: BLE001 -- whatever the release raises on y alone
        yield from replayed.problems
        yield f"{type(error).__name__} is raised on one of the two databases alone"
        return
    yield from replayed.problems
    if replayed.next < len(replayed.draws):
        yield "the number of draws depends on the data"
        return
    part = difference(outcome, other)
    if part is not None:
        yield f"{part} depends on the data beside the draws"


class _DivergedError(BaseException):
    """The two runs draw from different samplers; no further output can be frozen."""


@dataclass(slots=True)
class _Draw:
    name: str
    args: Args
    kwargs: Kwargs
    output: Any = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments by name, in the order of the sampler's parameters."""
        module, _, name = self.name.rpartition(".")
        parameters = signature(getattr(import_module(module), name))
        return dict(parameters.bind(*self.args, **self.kwargs).arguments)


@dataclass(slots=True)
class _Recording:
    """All draws of one run, in order."""

    draws: list[_Draw] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)

    def handle(self, name: str, draw: Sampling, args: Args, kwargs: Kwargs) -> Any:  # noqa: ANN401
        self.threads.add(get_ident())
        if name in SCOPES:
            self.draws.append(_Draw(name, args, kwargs))
            return draw()
        # Copied before drawing: a release may reuse its arrays.
        one = _Draw(name, deepcopy(args), deepcopy(kwargs))
        self.draws.append(one)
        output = draw()
        one.output = deepcopy(output)
        return output


@dataclass(slots=True)
class _Replay:
    """A run whose draws return what was recorded."""

    draws: list[_Draw]
    next: int = 0
    losses: list[Loss] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    runs: list[float] | None = None

    def handle(self, name: str, draw: Sampling, args: Args, kwargs: Kwargs) -> Any:  # noqa: ANN401
        if self.next == len(self.draws):
            self.problems.append("the number of draws depends on the data")
            raise _DivergedError
        frozen = self.draws[self.next]
        self.next += 1
        if frozen.name != name:
            self.problems.append(
                f"draw {self.next} is {frozen.name} or {name}, depending on the data"
            )
            raise _DivergedError
        if name in SCOPES:
            return self._go_inside(draw, frozen)
        self._compare(frozen, _Draw(name, args, kwargs))
        return deepcopy(frozen.output)

    def _go_inside(self, draw: Sampling, frozen: _Draw) -> Any:  # noqa: ANN401
        """Replay the draws of repeated runs, or of one of them, and combine their losses."""
        cost = frozen.arguments().get("cost")
        outside, self.losses = self.losses, []
        within, self.runs = self.runs, None if cost is None else []
        output = draw()
        used, runs = self.losses, self.runs
        self.losses, self.runs = outside, within
        if cost is not None:
            epsilon, delta = cost(max(runs or [], default=0.0))
            self.losses.append(Loss(epsilon, delta, zcdp=0.0))
        elif within is not None:
            within.append(compose(used, inf, 0.0)[0])
        return output

    def _compare(self, here: _Draw, there: _Draw) -> None:
        where = f"draw {self.next} ({here.name})"
        rule = rule_of(here.name)
        if rule is secret and self.runs is not None:
            # The number of runs and the choice of each: independent of the data, and hidden.
            if difference((here.args, here.kwargs), (there.args, there.kwargs), "") is not None:
                self.problems.append(f"{where} has public arguments that depend on the data")
            return
        if rule is secret:
            self.problems.append(
                f"{where} has no private input: its output must stay secret, and cannot be "
                "frozen"
            )
            return
        if rule is None:
            self.problems.append(f"{where} is a sampler whose privacy loss is not known")
            return
        one, other = here.arguments(), there.arguments()
        private = next(iter(one))
        if difference({**one, private: None}, {**other, private: None}, "") is not None:
            self.problems.append(f"{where} has public arguments that depend on the data")
            return
        loss = loss_of(rule, one, other, here.output)
        if loss is None:
            self.problems.append(f"{where} has a number of inputs that depends on the data")
            return
        self.losses.append(loss)


def _share(used: float, stated: float) -> float:
    if used == 0:
        return 0.0
    return used / stated if stated else inf
