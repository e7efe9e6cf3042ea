"""Base class of all mechanisms: distribution, plan, release and simulation.

Several candidates are drawn in rounds without replacement, each scaled among the candidates
that are left. Given the rounds before it, a round is a release of the objective of these, so it
costs what one release costs. Unit scores of this objective tell candidates apart however far
behind the drawn ones they are: only scores more than 2^30 units behind the best one *left* are
cut (``dpselect.draws.grid``).

Where other candidates only translate the scores and none is cut, one scaling serves all rounds.
Of two neighbours one may be cut and the other not. A score that is cut is raised to a threshold
that moves by at most 1 and is not raised by what was drawn before, so the scores of a round
still differ by at most 1, up to a translation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib import import_module
from math import inf, log, nextafter
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

from dpselect import validation
from dpselect._optional import np, silent
from dpselect.draws import Draw, Exponential, LaplaceNoisyMax, PermuteAndFlip
from dpselect.draws.grid import LIMIT
from dpselect.errors import ParameterError, ScoresError
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Facts, Objective
from dpselect.plan import ErrorBound, Plan, Spend, SupportsSpend
from dpselect.query import Design, Query, query
from dpselect.release import Release
from dpselect.typing import Indices, Probabilities, Scores

SMALLEST_EPSILON = 1e-200
"""Smallest epsilon of a mechanism; its noise, for any number of draws, is a float."""

MOST_SCALED = 256
"""Sets of candidates whose scores a simulation keeps."""

EXACT_SAMPLES = frozenset({Exponential.sample, LaplaceNoisyMax.sample, PermuteAndFlip.sample})
"""The methods behind which only the samplers of ``dpselect.draws`` draw."""


class Drawn(NamedTuple):
    """The release."""

    positions: list[int]
    """In the order drawn."""

    noisy_scores: tuple[float, ...] | None = None
    """The noisy scores of these positions, where the price covers them."""

    next_best: float | None = None
    """The largest noisy score that was left out, if the price covers it and there is one."""

    interval: tuple[tuple[float, float], ...] | None = None
    """Intervals of the scores of these positions, if they were asked for."""

    certain: tuple[bool, ...] | None = None
    """Whether they are certainly among the best, likewise."""


class MechanismFactory(Protocol):
    """Callable that returns a mechanism for a given epsilon: a class, or a partial of one."""

    def __call__(self, *, epsilon: float) -> Mechanism:
        """Return the mechanism."""


MechanismLike: TypeAlias = str | Mapping[str, Any] | MechanismFactory
"""A short name, a mapping of ``name`` and options, or a callable that takes ``epsilon=``."""


def by_name(mechanism: MechanismLike, epsilon: float) -> Mechanism:
    """Return a mechanism for an objective whose sensitivity is known.

    Args:
        mechanism: A key of ``MECHANISMS``; a mapping of ``name`` and its options, such as
            ``{"name": "shifted", "draw": "permute-and-flip"}``; or a callable that takes
            ``epsilon=`` and returns the mechanism. Of a mechanism that ``prices_objectives``
            all options but epsilon are refused.
        epsilon: Epsilon of one release, in nats, under the neighbour relation of the
            objective.

    Raises:
        ParameterError: There is no such mechanism, an argument is out of range, an option is
            one that a query has no say in, or a callable returns a larger epsilon.

    Examples:
        >>> by_name("permute-and-flip", 0.5)
        PermuteAndFlip(epsilon=0.5)
    """
    made = with_any_option(mechanism, epsilon)
    for one in fields(made) if made.prices_objectives else ():
        if one.name != "epsilon" and getattr(made, one.name) != one.default:
            raise ParameterError(
                f"`mechanism` {made.name!r} of a query cannot have {one.name!r}: the query "
                "knows what one individual changes, and states its price"
            )
    if made.epsilon > epsilon:
        raise ParameterError("`mechanism` must keep to the epsilon that it is called with")
    return made


def with_any_option(mechanism: MechanismLike, epsilon: float) -> Mechanism:
    """Return a mechanism for an objective of the caller's own, as ``by_name`` does.

    What the options say of the objective is the caller's claim.
    """
    options: dict[str, Any] = {}
    if isinstance(mechanism, Mapping):
        options = {key: one for key, one in mechanism.items() if key != "name"}
        mechanism = mechanism.get("name", "")
    if not callable(mechanism):
        # What it lists derives from what is here.
        catalogue = import_module("dpselect.mechanisms.catalogue")
        known: dict[str, type[Mechanism]] = catalogue.MECHANISMS
        mechanism = known[validation.one_of("mechanism", mechanism, known)]
    try:
        made = mechanism(epsilon=epsilon, **options)
    except TypeError:
        raise ParameterError(
            "`mechanism` must be a callable that takes epsilon=, or a name with options that "
            "the mechanism of that name has"
        ) from None
    return validation.instance("mechanism", made, Mechanism)


def as_step(mechanism: MechanismLike, epsilon: float) -> Mechanism:
    """Return a mechanism as one step of an exact release that is pure epsilon-DP.

    Raises:
        ParameterError: As of ``by_name``; or it needs a delta, or draws otherwise than by the
            samplers of the library.
    """
    made = by_name(mechanism, epsilon)
    if made.spend("").delta > 0:
        raise ParameterError("`mechanism` must not need a delta")
    if not made.exact:
        raise ParameterError("`mechanism` must draw by the samplers of dpselect.draws")
    return made


def drawable(name: str, value: object) -> float:
    """Return an epsilon at which a draw can be made, before it is paid for."""
    epsilon = validation.positive(name, value)
    if epsilon < SMALLEST_EPSILON:
        raise validation.must_be(name, f"at least {SMALLEST_EPSILON:g}", f"got {epsilon!r}")
    return epsilon


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Base of all mechanisms; a subclass gives the unit scores and the draw.

    To add a mechanism of your own, derive from this class and give ``name``, ``draw`` and
    ``scaling`` or ``unit_scores``; ``dpselect.audit.check_private`` checks it. Options are
    checked by their annotations, as the fields of a query are.

    Attributes:
        epsilon: Epsilon of one release, in nats, under the neighbour relation of the
            objective; finite, > 0.

    Raises:
        ParameterError: ``epsilon`` is not finite and > 0.
    """

    epsilon: Annotated[float, drawable]
    name: ClassVar[str]
    """The short name, as on the command line."""
    scaling: ClassVar[Callable[..., Scores]]
    """From an objective, and the options that ``facts`` names, to unit scores."""
    facts: ClassVar[dict[str, str]] = {}
    """By option, the public fact of an objective that it is if it is not given."""
    purpose: ClassVar[str] = "one candidate, without replacement"
    """Purpose of one spend of a release."""
    one_scaling: ClassVar[bool] = False
    """Whether the other candidates only translate the unit scores, all by the same number: then
    one scaling serves several rounds, where none of its scores is cut."""
    prices_objectives: ClassVar[bool] = False
    """Whether its options say what one individual changes, or what the release costs: a query
    states those itself."""
    doubles_monotone: ClassVar[bool] = False
    """Whether the unit scores of a monotone objective are twice those of another one."""
    gap: ClassVar[float] = inf
    """The largest score gap to the best that one unit of unit score can hide, on any data; in
    units of the objective's global sensitivity. Infinite states no error bound."""

    def __post_init__(self) -> None:
        # A float of Python: every computation and every record has the same number.
        validation.keep_checked(self)

    def __str__(self) -> str:
        """Return the call that makes it, without the defaults."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        usual = {one.name: one.default for one in fields(self)}
        # By their texts, since a field can hold an array.
        said = (
            f"{name}={one!r}" for name, one in given.items() if f"{one!r}" != f"{usual[name]!r}"
        )
        return f"{type(self).__name__}({', '.join(said)})"

    @property
    def label(self) -> str:
        """The name, with the public parameters that distinguish variants of that name."""
        return self.name

    @property
    @abstractmethod
    def draw(self) -> Draw:
        """The draw from unit scores."""

    @property
    def exact(self) -> bool:
        """Whether it draws by the library's own samplers; a draw of your own does not."""
        return type(self.draw).sample in EXACT_SAMPLES

    def unit_scores(self, objective: Objective) -> Scores:
        """Return the scaled scores, which one neighbour step moves by at most 1.

        Returns:
            Shape ``(n,)``, up to a common translation. As private as the scores.
        """
        return self.scaling(objective, **self._stated(objective))

    def for_objective(self, objective: Objective | Facts) -> Self:
        """Return the mechanism with the public facts of an objective filled in.

        Raises:
            ParameterError: It needs a fact that neither states.
        """
        return replace(self, **self._stated(objective)) if self.facts else self

    def _stated(self, objective: Objective | Facts) -> dict[str, Any]:
        """Return the options that an objective can state, from here or from there."""
        found = {}
        for name, fact in self.facts.items():
            own = getattr(self, name)
            found[name] = getattr(objective, fact) if own is None else own
            if found[name] is None:
                raise ParameterError(
                    f"{self.name} needs `{name}`: give it, or `{fact}` to the objective"
                )
        return found

    # Whether NumPy warns of an overflow depends on scores, so it never does.
    @silent
    def probabilities(self, objective: Objective) -> Probabilities:
        """Return the exact distribution of a release of one candidate.

        Returns:
            Shape ``(n,)``, in the order of the candidates; sums to 1. As private as the scores.
            A release rounds scores to a grid, which takes five millionths of epsilon (see
            ``dpselect.draws.grid``); this is the distribution without the rounding.
        """
        return self.draw.probabilities(self.unit_scores(objective), self.epsilon)

    @silent
    def log_probabilities(self, objective: Objective) -> Scores:
        """Return the natural logarithms of ``probabilities``, also of the smallest.

        Returns:
            Shape ``(n,)``; finite for scores within 1e300 units. As private as the scores.
        """
        return self.draw.log_probabilities(self.unit_scores(objective), self.epsilon)

    @silent
    def expected_error(self, objective: Objective) -> float:
        """Return the exact mean of ``max(scores) - scores[drawn]``; private."""
        gaps = objective.scores.max() - objective.scores
        return float(self.probabilities(objective) @ gaps)

    def gap_per_unit(self, attained: float | None = None) -> float:  # noqa: ARG002 -- for subclasses
        """Return the largest score gap to the best that one unit of unit score can hide.

        The basis of error bounds that hold on all data: ``gap``, where it does not depend on
        the best score.

        Args:
            attained: The best score, if it is the same on all data; score units.

        Returns:
            In units of the objective's global sensitivity.
        """
        return self.gap

    def largest_gap(
        self, candidates: int, bound: float, beta: float, attained: float | None = None
    ) -> float:
        """Return how far a drawn candidate is below the best, with probability ``1 - beta``.

        It is an upper bound for any data, in score units; infinite where no bound holds. The
        objective is assumed not to be monotone.

        Args:
            candidates: Number of candidates.
            bound: Global sensitivity, score units.
            beta: In (0, 1).
            attained: As for ``gap_per_unit``.
        """
        gap = self.gap_per_unit(attained) * bound
        return gap * 2 / self.epsilon * log(candidates / beta)

    def error_bound(
        self,
        objective: Objective | Facts,
        unit: str,
        *,
        attained: float | None = None,
        largest: float = inf,
        probability: float = 0.95,
    ) -> ErrorBound:
        """Return an error that a draw of one candidate does not exceed, on any data.

        The error is the best score less the drawn one. A candidate whose unit score is ``g``
        below the best is drawn with probability at most ``e^(-ε g/2)``, so none of the ``n`` is
        drawn from more than ``(2/ε) ln(n/β)`` below with probability ``1 - β``;
        ``gap_per_unit`` converts this to scores.

        Args:
            objective: Its number of candidates and its bound, and whether it is monotone: the
                gap is then half as large where the unit scores are doubled. No score is read.
            unit: The unit of the scores, such as ``"ranks"``.
            attained: The best score, if it is the same on all data, such as 0 for a
                percentile; score units.
            largest: The largest error that there can be; score units.
            probability: The probability ``1 - β`` of an error of at most the bound; in (0, 1).

        Returns:
            A bound in ``unit``; infinite where none holds on all data. Public.

        Raises:
            ParameterError: ``probability`` is out of its range.

        Source: McSherry and Talwar, FOCS 2007, Theorem 6; Dwork and Roth 2014, Theorem 3.11.
        """
        beta = validation.share("probability", 1 - validation.share("probability", probability))
        bound = objective.sensitivity.bound
        if objective.monotone and self.doubles_monotone:
            bound /= 2
        gap = self.largest_gap(len(objective), bound, beta, attained)
        return ErrorBound(gap, unit, probability, largest)

    def single_round(self, k: int) -> Mechanism:
        """Return the mechanism by which one of ``k`` candidates is drawn."""
        return replace(self, epsilon=self.epsilon / k)

    def spend(self, purpose: str, k: int = 1) -> Spend:
        """Return the price of ``k`` rounds, each at ``epsilon / k``."""
        each = self.epsilon / k
        return Spend(purpose, each, times=k, rho=self.draw.rho(each))

    def plan(self, k: int = 1, *, neighbours: NeighboursLike) -> Plan:
        """Return the price of a release of ``k`` candidates; needs no data.

        Args:
            k: Number of candidates that will be drawn.
            neighbours: The relation of the objective's sensitivity.
        """
        return Selection(mechanism=self, k=k, neighbours=neighbours).plan

    @silent
    def draw_positions(self, objective: Objective, k: int = 1) -> list[int]:
        """Draw ``k`` positions without replacement, exactly; spends nothing.

        For callers that have charged a plan with ``spend`` among its spends.
        """
        return self.prepare(objective, checked_k(k, objective))().positions

    def prepare(
        self, objective: Objective, k: int, above: float | None = None
    ) -> Callable[[], Drawn]:
        """Return the draw, after everything that can fail.

        Args:
            objective: The objective to choose by.
            k: Number of candidates to draw.
            above: Draw all with at least this noisy score instead; for noisy sequences.

        Raises:
            ParameterError: There is a threshold, and the mechanism has no noisy scores.
        """
        if above is not None:
            raise no_threshold()
        scores = self.unit_scores(objective)
        if np.shape(scores) != objective.scores.shape:
            raise ScoresError(f"`unit_scores` must return {len(objective)} numbers")
        if np.count_nonzero(np.isfinite(scores)) < len(objective):
            raise ScoresError("`unit_scores` must return finite numbers")
        if k == 1 or (self.one_scaling and scores.min() >= -LIMIT):
            return lambda: Drawn(self.draw.sample(scores, self.epsilon, k))
        each = nextafter(self.epsilon / k, 0)

        def one_of(left: Indices) -> int:
            return self.draw.sample(self.unit_scores(objective.take(left)), each, 1)[0]

        return lambda: Drawn(in_rounds(k, len(objective), one_of))

    def release(
        self,
        objective: Objective,
        k: int | None = None,
        *,
        above: float | None = None,
        budget: SupportsSpend | None = None,
    ) -> Release[Any]:
        """Draw ``k`` candidates without replacement, exactly; safe to publish.

        Each round costs ``epsilon / k``, the release ``epsilon``. The budget is charged
        before anything is drawn.

        Args:
            objective: The objective to choose by.
            k: Number of candidates to draw, 1 to ``n``; 1 if not given.
            above: All candidates with at least this noisy score, the largest first, in place of
                ``k``. For a ``NoisySequence``. Score units. Public: not read off the data.
            budget: Where to record the spend, such as a ``Budget``.

        Raises:
            ParameterError: ``k`` is not an integer from 1 to ``n``, ``above`` is not finite, or
                the mechanism needs a fact that neither it nor the objective states.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
            NeighboursError: The budget is for another neighbour relation.
        """
        validation.instance("objective", objective, Objective)
        mechanism = self.for_objective(objective)
        if above is None:
            k = 1 if k is None else checked_k(k, objective)
            selection = asked(mechanism, k, objective.neighbours)
        else:
            selection = Selection(
                mechanism=mechanism, k=k, above=above, neighbours=objective.neighbours
            )
        return selection.release(objective, budget=budget)

    @silent
    def simulate(
        self, objective: Objective, k: int = 1, *, size: int, rng: np.random.Generator
    ) -> Indices:
        """Repeat the draw ``size`` times with NumPy: for experiments, never to publish.

        Args:
            objective: The objective to choose by.
            k: Number of candidates that each repetition draws; 1 to ``n``.
            size: Number of repetitions; >= 1.
            rng: The generator, for reproducible experiments.

        Returns:
            Positions of the drawn candidates: shape ``(size,)``, or ``(size, k)`` for draws of
            several, each row in the order drawn. As private as the scores.
        """
        k = checked_k(k, objective)
        size = validation.at_least("size", size, 1)
        validation.instance("rng", rng, np.random.Generator)
        indices = self._simulated(objective, k, size, rng)
        return indices[:, 0] if k == 1 else indices

    def _simulated(
        self, objective: Objective, k: int, size: int, rng: np.random.Generator
    ) -> Indices:
        """Return simulated positions, shape ``(size, k)``."""
        if k == 1 or self.one_scaling:
            scores = self.unit_scores(objective)
            return self.draw.simulate(scores, self.epsilon, k=k, size=size, rng=rng)

        @lru_cache(maxsize=MOST_SCALED)
        def scaled(left: bytes) -> Scores:
            return self.unit_scores(objective.take(np.frombuffer(left, dtype=np.int64)))

        def one_of(left: Indices) -> int:
            scores = scaled(left.tobytes())
            drawn = self.draw.simulate(scores, self.epsilon / k, k=1, size=1, rng=rng)
            return int(drawn[0, 0])

        every = [in_rounds(k, len(objective), one_of) for _ in range(size)]
        return np.array(every, dtype=np.int64)


def in_rounds(k: int, candidates: int, place_of: Callable[[Indices], int]) -> list[int]:
    """Return ``k`` positions, each drawn among those that are left.

    Args:
        k: Number of positions.
        candidates: Number of all.
        place_of: Draws one of the positions that are left, and returns its place there.
    """
    left = np.arange(candidates)
    chosen: list[int] = []
    while len(chosen) < k:
        place = place_of(left)
        chosen.append(int(left[place]))
        left = np.delete(left, place)
    return chosen


def checked_k(k: int, objective: Objective | Facts) -> int:
    """Return how many candidates to draw.

    Raises:
        ParameterError: It is not an integer from 1 to ``n``.
    """
    return validation.some_of("k", k, len(objective))


@query
class Selection(Query[Release[Any]]):
    """Some candidates of an objective, by a mechanism; the data are the objective.

    Guarantee:
        ``epsilon``-DP under ``neighbours`` if the objective's sensitivity is admissible, with
        the mechanism's epsilon. All that the mechanism states is public, and so are the
        candidates and their number.

    Attributes:
        mechanism: How candidates are drawn, with its epsilon. A mechanism, or a mapping of its
            short name, ``epsilon`` and its other options.
        k: Number of candidates to draw; at most the number of all.
        above: All candidates with at least this noisy score, the largest first, in place of
            ``k``. For a ``NoisySequence``. Score units. Not derived from the data.
        neighbours: The relation of the objective's sensitivity.
    """

    mechanism: Mechanism | Mapping[str, Any]
    k: Annotated[int | None, validation.integers(1)] = None
    above: Annotated[float | None, validation.finite] = None
    neighbours: NeighboursLike

    def design(self) -> _SelectionDesign:
        chosen, k = self._mechanism(), self.k or 1
        validation.one_given(k=self.k, above=self.above)
        spend = chosen.spend(chosen.purpose, k)
        return _SelectionDesign(
            plan=Plan(
                mechanism=str(chosen),
                spends=(spend,),
                epsilon=chosen.epsilon,
                delta=spend.times * spend.delta,
                neighbours=validation.neighbours(self.neighbours),
                public=("the candidates and their number",),
            ),
            exact=chosen.exact,
            selecting=chosen,
            k=k,
            above=self.above,
        )

    def _mechanism(self) -> Mechanism:
        """Return the mechanism; of a query that was written down it is a mapping."""
        if not isinstance(self.mechanism, Mapping):
            return validation.instance("mechanism", self.mechanism, Mechanism)
        options = dict(self.mechanism)
        if "epsilon" not in options:
            raise ParameterError("`mechanism` must have an `epsilon` of its own")
        return with_any_option(options, options.pop("epsilon"))


ASKED: dict[tuple[object, ...], Selection] = {}
"""The last queries that mechanisms have made, by what is asked."""

MOST_ASKED = 16
"""How many of them are kept."""


def asked(mechanism: Mechanism, k: int, neighbours: Neighbours) -> Selection:
    """Return the query of a mechanism's release, which is made once for several of them.

    A mechanism is known by its identity, which it keeps while its query is kept: one of
    somebody's own may be equal to another that draws otherwise.
    """
    what = id(mechanism), k, neighbours
    if (made := ASKED.get(what)) is None:
        if len(ASKED) >= MOST_ASKED:
            ASKED.clear()
        made = Selection(mechanism=mechanism, k=k, neighbours=neighbours)
        ASKED[what] = made
    return made


def no_threshold() -> ParameterError:
    """Return the error of a mechanism without noisy scores that is given a threshold."""
    return ParameterError("`above` needs a noisy sequence: leave out `mechanism`")


@dataclass(frozen=True, kw_only=True)
class _SelectionDesign(Design[Release[Any]]):
    selecting: Mechanism
    k: int
    above: float | None

    def prepare(self, data: Objective) -> Callable[[Plan], Release[Any]]:
        objective = validation.instance("data", data, Objective)
        both = (self.plan.neighbours, objective.neighbours)
        validation.one_relation("the selection and the objective", both)
        filled = self.selecting.for_objective(objective)
        if filled is not self.selecting and (
            filled.spend("", self.k).rho_of_all > self.plan.spends[0].rho_of_all
        ):
            raise ParameterError(
                "`mechanism` must have the `l1`, `bound` and `step` of the objective: "
                "mechanism.for_objective(objective)"
            )
        k = checked_k(self.k, objective)
        return released(objective.candidates, self.selecting.prepare(objective, k, self.above))


def released(
    candidates: Sequence[Hashable], draw: Callable[[], Drawn]
) -> Callable[[Plan], Release[Any]]:
    """Return the draw of a release from one of positions."""

    def drawn(plan: Plan) -> Release[Any]:
        found = draw()
        return Release(
            answer=tuple([candidates[position] for position in found.positions]),
            plan=plan,
            noisy_scores=found.noisy_scores,
            interval=found.interval,
            certain=found.certain,
        )

    return drawn
