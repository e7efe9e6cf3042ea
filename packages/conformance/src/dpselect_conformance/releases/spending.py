"""Check that a release charges its budget before it draws.

Seen are the exact samplers of the library and of OpenDP in this process, in any of its threads,
and the functions that are named. Noise of NumPy, of the module ``random`` or of an extension
is not seen unless the function that draws it is named, nor is a budget that a release makes
itself.

A draw before the spend is an output without a recorded price: the process may end between
the two, or the budget may refuse when the noise is already known.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import fsum
from types import CodeType, FrameType
from typing import Any

from dpselect.budget import Budget, Entry
from dpselect.errors import InsufficientBudgetError, ParameterError
from dpselect.extend import (
    ROUNDING,
    Decide,
    Entries,
    Memory,
    NeighboursLike,
    drawing,
    intercepted,
    plan_of,
)
from dpselect_conformance.report import Report

OPENDP_SAMPLERS = frozenset({"measurement_invoke", "odometer_invoke", "queryable_eval"})
"""Functions of ``opendp.core`` in which OpenDP draws; building a measurement draws nothing."""


@dataclass(frozen=True, slots=True)
class SpendReport(Report):
    """The outcome of ``check_spends_first``; ``print`` shows it.

    Attributes:
        problems: The problems found, one sentence each; empty if there are none.
        spent: Epsilon of every spend, in order.
        draws: Names of the samplers that ran, in order.
    """

    problems: tuple[str, ...]
    spent: tuple[float, ...]
    draws: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def __str__(self) -> str:
        if self.ok:
            return f"spends first: epsilon = {fsum(self.spent):g}, before {self.draws[0]}"
        return "does NOT spend first: " + "; ".join(self.problems)


def check_spends_first(
    release: Callable[[Budget], object],
    *,
    total: float,
    delta: float = 0.0,
    neighbours: NeighboursLike,
    protects: str | None = None,
    samplers: Iterable[Callable[..., object]] = (),
) -> SpendReport:
    """Run a release twice and record when it draws and when it spends.

    Noise of NumPy, of ``random`` or of an extension is not seen, unless ``samplers`` names the
    function that draws it; nor is anything in another process.

    The first run has a budget in memory that allows the spend: an exact sampler (of
    ``dpselect.draws``, of OpenDP, or one of ``samplers``) must run, none before the last spend
    returned or after a refund, by whatever handle of the budget; if the outcome carries a
    ``Plan`` as ``plan_`` or ``plan``, as every release and fitted estimator of the library
    does, the spends must add up to the epsilon and delta that it states. In the second run
    every spend is refused, and nothing may be drawn. Calls are recorded by
    ``dpselect.draws.exact.samplers.intercepted``, a profile function and the store of the
    budget, so nothing is mocked.

    Args:
        release: Makes one release, charged to the budget that it is called with. Use
            synthetic data.
        total: Epsilon of the budget, in nats; enough for one release.
        delta: Delta of the budget, all of it for the release.
        neighbours: The relation of the budget.
        protects: The column of the persons that it protects; a record if not given.
        samplers: Further Python functions that draw, for mechanisms with their own noise.

    Raises:
        ParameterError: A sampler is not a Python function, or a total is out of range.
        InsufficientBudgetError: ``total`` is not enough.

    Examples:
        >>> import dpselect as dp
        >>> votes = dp.Objective([3, 9], dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE))
        >>> report = check_spends_first(
        ...     lambda budget: dp.PermuteAndFlip(epsilon=0.1).release(votes, budget=budget),
        ...     total=1.0,
        ...     neighbours=dp.Neighbours.ADD_REMOVE,
        ... )
        >>> print(report)
        spends first: epsilon = 0.1, before ...draws.exact.selection.top_k_exponential_noise
    """
    watched = frozenset(_code_of(sampler) for sampler in samplers)
    granted = {
        "epsilon": total,
        "delta": delta,
        "neighbours": neighbours,
        "protects": protects,
        "composition": "sum",
    }
    allowed = _Watch(watched, refuses=False)
    with allowed.watching():
        outcome = release(_budget(allowed, **granted))
    refused = _Watch(watched, refuses=True)
    stopped = False
    with refused.watching():
        try:
            release(_budget(refused, **granted))
        except InsufficientBudgetError:
            stopped = True
    spent = tuple(entry.epsilon for entry in allowed.entries)
    problems = [*_problems_when_allowed(allowed, outcome)]
    if refused.entries and not stopped:
        problems.append("a refused spend did not stop the release")
    if refused.entries and refused.draws:
        problems.append(f"{refused.draws[0]} ran although the spend was refused")
    return SpendReport(tuple(problems), spent, tuple(allowed.draws))


def _problems_when_allowed(watch: _Watch, outcome: object) -> Iterator[str]:
    if not watch.entries:
        yield "nothing was spent"
    if not watch.draws:
        yield "no exact sampler ran; name the release's own ones by samplers="
    if watch.spent_after and watch.spent_after[0] > 0:
        yield f"{watch.draws[0]} ran before the first spend"
    elif watch.spent_after and watch.spent_after[-1] > 0:
        yield f"{watch.draws[watch.spent_after[-1] - 1]} ran before the last spend"
    if watch.refunded_after and watch.refunded_after[0] < len(watch.draws):
        yield f"{watch.draws[watch.refunded_after[0]]} ran after a refund"
    plan = plan_of(outcome)
    if plan is not None and watch.entries:
        for name in ("epsilon", "delta"):
            stated = getattr(plan, name)
            spent = fsum(getattr(entry, name) for entry in watch.entries)
            if spent < stated * (1 - ROUNDING):
                yield f"the release states {name} = {stated:g} and spent {spent:g}"


@dataclass(slots=True)
class _Watch:
    """The spends and the draws of one run, in order."""

    samplers: frozenset[CodeType]
    refuses: bool
    entries: list[Entry] = field(default_factory=list)
    draws: list[str] = field(default_factory=list)
    spent_after: list[int] = field(default_factory=list)
    """The number of draws before each spend."""
    refunded_after: list[int] = field(default_factory=list)
    """The number of draws before each refund."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        before, in_threads = sys.getprofile(), threading.getprofile()
        sys.setprofile(self._profile)
        threading.setprofile(self._profile)
        try:
            with intercepted(self._handle):
                yield
        finally:
            threading.setprofile(in_threads)
            sys.setprofile(before)

    def _handle(
        self, name: str, draw: Callable[[], Any], *_: tuple[Any, ...] | dict[str, Any]
    ) -> Any:  # noqa: ANN401 -- the sampler's own output
        self.draws.append(name)
        return draw()

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:  # noqa: ANN401
        if event == "call" and self._draws_in(frame) and not drawing():
            self.draws.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}")

    def _draws_in(self, frame: FrameType) -> bool:
        if frame.f_code in self.samplers:
            return True
        in_opendp = frame.f_globals.get("__name__") == "opendp.core"
        return in_opendp and frame.f_code.co_name in OPENDP_SAMPLERS


class _WatchedStore(Memory):
    """The entries of a budget in memory: all of its handles spend and refund here."""

    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self._watch = watch

    def append(self, decide: Decide) -> Entries:
        entries = super().append(decide)
        self._watch.spent_after.append(len(self._watch.draws))
        self._watch.entries += entries
        if self._watch.refuses:
            raise InsufficientBudgetError("refused, to see whether the release stops")
        return entries

    def refund(self, entry: Entry, epsilon: float) -> None:
        self._watch.refunded_after.append(len(self._watch.draws))
        super().refund(entry, epsilon)


def _budget(watch: _Watch, **granted: Any) -> Budget:  # noqa: ANN401 -- a budget's own arguments
    budget = Budget(**granted)
    budget._store = _WatchedStore(watch)  # noqa: SLF001 -- empty, like the one that it replaces
    return budget


def _code_of(sampler: Callable[..., object]) -> CodeType:
    code = getattr(sampler, "__code__", None)
    if not isinstance(code, CodeType):
        raise ParameterError("samplers must be Python functions")
    return code
