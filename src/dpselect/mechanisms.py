r"""The mechanisms: a scaling and a draw each, by the names of the literature.

===========================  =====================================  ======================
mechanism                    unit scores                            draw
===========================  =====================================  ======================
``ExponentialMechanism``     by the global sensitivity              exponential
``PermuteAndFlip``           by the global sensitivity              permute-and-flip
``ReportNoisyMax``           by the global sensitivity              noisy maximum
``LocalDampening``           dampened                               either
``ShiftedLocalDampening``    limit of a large shift, dampened       either
``AnchoredLocalDampening``   distance to an anchor, dampened        either
``PairwiseLocalDampening``   differences, dampened                  either
``GeneralizedExponential``   pairwise, by bounds per candidate      either
===========================  =====================================  ======================

Guarantee of all: ``epsilon``-DP for one release of ``k`` candidates, under the neighbour
relation of the objective's sensitivity, if that is admissible (``dpselect.audit`` checks it).
The candidates, their number, the bound, the horizon and the mechanism's own arguments are
public.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import log
from typing import ClassVar, Literal, Protocol

import numpy as np

from dpselect import _validate, scaling
from dpselect.draws import Draw, Exponential, LaplaceNoisyMax
from dpselect.draws import PermuteAndFlip as PermuteAndFlipDraw
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.release import Release, Simulation
from dpselect.scaling.shifted import Direction
from dpselect.typing import Probabilities, Scores


class Recipe(Protocol):
    """What makes a mechanism of an epsilon: a mechanism class, or a partial of one."""

    def __call__(self, *, epsilon: float) -> Mechanism:
        """Return the mechanism."""


class Spends(Protocol):
    """What a release asks of a budget."""

    def spend(
        self, epsilon: float, *, neighbours: Neighbours, rho: float, mechanism: str
    ) -> object:
        """Record a spend, or raise and record nothing."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """What all mechanisms have: a law, a release, a simulation.

    A subclass says how scores become unit scores and which draw follows.

    Attributes:
        epsilon: What one release costs, in nats; finite, > 0.

    Raises:
        ParameterError: ``epsilon`` is not finite and > 0.
    """

    epsilon: float
    name: ClassVar[str]
    """The short name, as the command line has it."""

    def __post_init__(self) -> None:
        _validate.positive("epsilon", self.epsilon)

    @property
    def label(self) -> str:
        """The name, with the public choices that tell it from others of that name."""
        return self.name

    @property
    @abstractmethod
    def _draws_by(self) -> Draw:
        """The draw."""

    @abstractmethod
    def unit_scores(self, objective: Objective) -> Scores:
        """Return the scaled scores, which one neighbour step moves by at most 1.

        Returns:
            Shape ``(n,)``, up to a common translation. As private as the scores.
        """

    def probabilities(self, objective: Objective) -> Probabilities:
        """Return the exact law of a release of one candidate.

        Returns:
            Shape ``(n,)``, in the order of the candidates; sums to 1. As private as the
            scores. A release rounds scores to a grid and pays for that with five
            millionths of epsilon (see ``dpselect.draws.grid``); this is the law without.
        """
        return self._draws_by.law(self.unit_scores(objective), self.epsilon)

    def expected_error(self, objective: Objective) -> float:
        """Return the exact mean of ``max(scores) - scores[drawn]``; private."""
        gaps = objective.scores.max() - objective.scores
        return float(self.probabilities(objective) @ gaps)

    def release(
        self, objective: Objective, k: int = 1, budget: Spends | None = None
    ) -> Release:
        """Draw ``k`` candidates without replacement, exactly; safe to publish.

        Each round costs ``epsilon / k``, the release ``epsilon``. The budget is spent
        before anything is drawn.

        Args:
            objective: What to choose from.
            k: How many candidates to draw; 1 to ``n``.
            budget: Where to record the spend, such as a :class:`~dpselect.Budget`.

        Raises:
            ParameterError: ``k`` is not a whole number from 1 to ``n``.
            InsufficientBudgetError: The budget does not allow it; nothing is drawn.
            NeighboursError: The budget is kept for another neighbour relation.
        """
        k = _checked_k(k, objective)
        scores = self.unit_scores(objective)
        if budget is not None:
            budget.spend(
                self.epsilon,
                neighbours=objective.neighbours,
                rho=k * self._draws_by.rho(self.epsilon / k),
                mechanism=repr(self),
            )
        chosen = self._draws_by.sample(scores, self.epsilon, k)
        return Release(
            candidates=tuple(objective.candidates[position] for position in chosen),
            mechanism=repr(self),
            epsilon=self.epsilon,
            neighbours=objective.neighbours,
            exact=True,
        )

    def simulate(
        self, objective: Objective, k: int = 1, *, size: int, rng: np.random.Generator
    ) -> Simulation:
        """Repeat the draw ``size`` times with NumPy: for experiments, never to publish.

        Args:
            objective: What to choose from.
            k: How many candidates each repetition draws; 1 to ``n``.
            size: How many repetitions; >= 1.
            rng: The generator, for reproducible experiments.
        """
        k = _checked_k(k, objective)
        size = _validate.at_least("size", size, 1)
        _validate.instance("rng", rng, np.random.Generator)
        indices = self._draws_by.simulate(
            self.unit_scores(objective), self.epsilon, k=k, size=size, rng=rng
        )
        return Simulation(indices[:, 0] if k == 1 else indices, repr(self))


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism(Mechanism):
    r"""Draw with probability proportional to :math:`\exp(\varepsilon u_r / 2\Delta)`.

    For a monotone objective :math:`\exp(\varepsilon u_r / \Delta)`.

    Source: McSherry and Talwar, FOCS 2007.

    Examples:
        >>> import dpselect as dp
        >>> votes = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        >>> objective = dp.Objective([0.0, 1.0], votes)
        >>> dp.ExponentialMechanism(epsilon=2.0).probabilities(objective).round(3)
        array([0.269, 0.731])
    """

    name: ClassVar[str] = "exponential"

    @property
    def _draws_by(self) -> Draw:
        return Exponential()

    def unit_scores(self, objective: Objective) -> Scores:
        return scaling.by_global(objective)


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Mechanism):
    r"""Accept in random order with probability :math:`\exp(\varepsilon (u_r - u_*)/2\Delta)`.

    Its expected error is never above the exponential mechanism's. For a monotone objective
    the 2 drops out.

    Source: McKenna and Sheldon 2020, arXiv:2010.12603.
    """

    name: ClassVar[str] = "permute-and-flip"

    @property
    def _draws_by(self) -> Draw:
        return PermuteAndFlipDraw()

    def unit_scores(self, objective: Objective) -> Scores:
        return scaling.by_global(objective)


@dataclass(frozen=True, kw_only=True)
class ReportNoisyMax(Mechanism):
    """Add noise to every score and release the position of the largest.

    Attributes:
        noise: ``"laplace"``; or ``"exponential"``, which has the law of permute-and-flip;
            or ``"gumbel"``, which has that of the exponential mechanism. The scale is
            twice the sensitivity over epsilon for each.

    Source: Dwork and Roth 2014, section 3.3; Ding et al. 2021, arXiv:2105.07260.
    """

    noise: Literal["laplace", "exponential", "gumbel"]
    name: ClassVar[str] = "noisy-max"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise not in _NOISES:
            raise ParameterError(f"noise must be one of {', '.join(_NOISES)}")

    @property
    def label(self) -> str:
        return f"{self.name}, {self.noise}"

    @property
    def _draws_by(self) -> Draw:
        return _NOISES[self.noise]

    def unit_scores(self, objective: Objective) -> Scores:
        return scaling.by_global(objective)


_NOISES: dict[str, Draw] = {
    "laplace": LaplaceNoisyMax(),
    "exponential": PermuteAndFlipDraw(),
    "gumbel": Exponential(),
}


@dataclass(frozen=True, kw_only=True)
class _EitherDraw(Mechanism):
    """A scaling that is in use with both draws.

    Attributes:
        draw: ``draws.Exponential()``, as in the papers, or ``draws.PermuteAndFlip()``:
            epsilon-DP too, and never worse in the unit scores; in the scores themselves
            only where the scaling keeps their order.
    """

    draw: Draw = field(default_factory=Exponential)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.draw, Draw):
            raise ParameterError(
                "draw must be dpselect.draws.Exponential() or dpselect.draws.PermuteAndFlip()"
            )

    @property
    def label(self) -> str:
        return self.name if self.draw == Exponential() else f"{self.name}, {self.draw.name}"

    @property
    def _draws_by(self) -> Draw:
        return self.draw


@dataclass(frozen=True, kw_only=True)
class LocalDampening(_EitherDraw):
    r"""Draw by :math:`\exp(\varepsilon D(u_r) / 2)`, with scores dampened locally.

    Source: Farias et al., VLDB J. 2023, Definition 13 and Theorem 3.
    """

    name: ClassVar[str] = "local-dampening"

    def unit_scores(self, objective: Objective) -> Scores:
        return scaling.dampened(objective)


@dataclass(frozen=True, kw_only=True)
class ShiftedLocalDampening(_EitherDraw):
    """Local dampening of scores shifted by infinity, in closed form.

    Attributes:
        direction: ``"non-decreasing"`` if candidates with larger scores have larger
            sensitivities, else ``"non-increasing"``. Public.

    Source: Farias et al., VLDB J. 2023, Definitions 15 and 16.
    """

    direction: Direction
    name: ClassVar[str] = "shifted"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.direction not in {"non-decreasing", "non-increasing"}:
            raise ParameterError(
                "direction must be 'non-decreasing' or 'non-increasing', not "
                f"{self.direction!r}"
            )

    def unit_scores(self, objective: Objective) -> Scores:
        return scaling.shifted(objective, self.direction)


@dataclass(frozen=True, kw_only=True)
class AnchoredLocalDampening(_EitherDraw):
    """Local dampening of the distance to a public anchor.

    Attributes:
        anchor: A number at or above the best score that can occur; score units. Public.
    """

    anchor: float
    name: ClassVar[str] = "anchored"

    def __post_init__(self) -> None:
        super().__post_init__()
        _validate.finite("anchor", self.anchor)

    def unit_scores(self, objective: Objective) -> Scores:
        return scaling.anchored(objective, self.anchor)


@dataclass(frozen=True, kw_only=True)
class PairwiseLocalDampening(_EitherDraw):
    """Local dampening of the differences between candidates: the best is always first."""

    name: ClassVar[str] = "pairwise"

    def unit_scores(self, objective: Objective) -> Scores:
        return scaling.pairwise(objective)


@dataclass(frozen=True, kw_only=True)
class GeneralizedExponential(_EitherDraw):
    r"""The exponential mechanism for one global sensitivity per candidate.

    Attributes:
        t: Penalty, in units of the sensitivity; :math:`(2/\varepsilon) \ln(n/0.05)` if not
            given, with which the best candidate stays ahead of the noise of all others
            19 times in 20. Public.

    Source: Raskhodnikova and Smith, arXiv:1504.07912.
    """

    t: float | None = None
    name: ClassVar[str] = "generalized"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.t is not None:
            _validate.within("t", self.t, 0, np.finfo(np.float64).max)

    def unit_scores(self, objective: Objective) -> Scores:
        default = 2 / self.epsilon * log(len(objective) / 0.05)
        return scaling.generalized(objective, default if self.t is None else self.t)


def by_name(
    mechanism: str | Recipe,
    epsilon: float,
    *,
    anchor: float | None = None,
    direction: Direction | None = None,
) -> Mechanism:
    """Return a mechanism by its short name, with what an application knows of its scores.

    Args:
        mechanism: A short name (``"noisy-max"`` is the one with Laplace noise), or a
            function that takes ``epsilon=`` and returns the mechanism.
        epsilon: What one release costs, in nats.
        anchor: For ``"anchored"``. Public.
        direction: For ``"shifted"``. Public.

    Raises:
        ParameterError: There is no such mechanism, or it needs what was not given.

    Examples:
        >>> by_name("permute-and-flip", 0.5)
        PermuteAndFlip(epsilon=0.5)
    """
    if not isinstance(mechanism, str):
        return _validate.instance("mechanism", mechanism(epsilon=epsilon), Mechanism)
    if mechanism == ReportNoisyMax.name:
        return ReportNoisyMax(epsilon=epsilon, noise="laplace")
    if mechanism == ShiftedLocalDampening.name and direction is not None:
        return ShiftedLocalDampening(epsilon=epsilon, direction=direction)
    if mechanism == AnchoredLocalDampening.name and anchor is not None:
        return AnchoredLocalDampening(epsilon=epsilon, anchor=anchor)
    if mechanism in _PLAIN:
        return _PLAIN[mechanism](epsilon=epsilon)
    names = ", ".join([*_PLAIN, "noisy-max", "shifted", "anchored"])
    raise ParameterError(
        f"mechanism must be one of {names} (the last two where the objective says how), "
        f"not {mechanism!r}"
    )


_PLAIN: dict[str, type[Mechanism]] = {
    kind.name: kind
    for kind in (
        ExponentialMechanism,
        PermuteAndFlip,
        LocalDampening,
        PairwiseLocalDampening,
        GeneralizedExponential,
    )
}


def _checked_k(k: int, objective: Objective) -> int:
    k = _validate.at_least("k", k, 1)
    if k > len(objective):
        raise ParameterError(
            f"k must be at most the number of candidates, {len(objective)}, not {k}"
        )
    return k
