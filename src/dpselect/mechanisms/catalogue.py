r"""The mechanisms of the library: a scaling and a draw each.

==========================  =================================  ================
mechanism                   unit scores                        draw
==========================  =================================  ================
``ExponentialMechanism``    by the global sensitivity          exponential
``PermuteAndFlip``          by the global sensitivity          permute-and-flip
``ReportNoisyMax``          by the global sensitivity          noisy maximum
``LocalDampening``          dampened                           either
``ShiftedLocalDampening``   limit of a large shift, dampened   either
``AnchoredLocalDampening``  distance to an anchor, dampened    either
``PairwiseLocalDampening``  differences, dampened              either
``GeneralizedExponential``  pairwise, by bounds per candidate  either
==========================  =================================  ================

Guarantee of all: ``epsilon``-DP for one release of ``k`` candidates, under the neighbour
relation of the objective's sensitivity, if that is admissible (``dpselect.audit`` checks it).
The candidates, their number, the bound, the horizon and the mechanism's own arguments are
public.
"""

from dataclasses import dataclass
from math import inf, log
from typing import Annotated, ClassVar

from dpselect import scaling, validation
from dpselect.draws import (
    Draw,
    Exponential,
    LaplaceNoisyMax,
    PermuteAndFlip as PermuteAndFlipDraw,
)
from dpselect.errors import ParameterError
from dpselect.mechanisms.base import Mechanism
from dpselect.mechanisms.sequence import NoisySequence
from dpselect.objective import Objective
from dpselect.scaling.pairs import LARGEST_PENALTY
from dpselect.typing import Direction, Scores


@dataclass(frozen=True, kw_only=True)
class _ByGlobalSensitivity(Mechanism):
    scaling = staticmethod(scaling.by_global)
    one_scaling: ClassVar[bool] = True
    doubles_monotone: ClassVar[bool] = True
    gap: ClassVar[float] = 1.0


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism(_ByGlobalSensitivity):
    """Draw with probability proportional to ``exp(ε u_r / 2Δ)``.

    For a monotone objective ``exp(ε u_r / Δ)``.

    Source: McSherry and Talwar, FOCS 2007.

    Examples:
        >>> import dpselect as dp
        >>> votes = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        >>> objective = dp.Objective([0.0, 1.0], votes)
        >>> dp.ExponentialMechanism(epsilon=2.0).probabilities(objective).round(3)
        array([0.269, 0.731])
    """

    name: ClassVar[str] = "exponential"
    draw: ClassVar[Draw] = Exponential()


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(_ByGlobalSensitivity):
    """Accept in random order with probability ``exp(ε (u_r - u_*)/2Δ)``.

    Its expected error is never above the exponential mechanism's. For a monotone objective
    the 2 drops out.

    Source: McKenna and Sheldon 2020, arXiv:2010.12603.
    """

    name: ClassVar[str] = "permute-and-flip"
    draw: ClassVar[Draw] = PermuteAndFlipDraw()


@dataclass(frozen=True, kw_only=True)
class ReportNoisyMax(_ByGlobalSensitivity):
    """Add Laplace noise to every score and release the position of the largest.

    The scale is twice the sensitivity over epsilon. It is the baseline of textbooks;
    ``PermuteAndFlip`` is the same with exponential noise, ``ExponentialMechanism`` with Gumbel
    noise.

    Source: Dwork and Roth 2014, section 3.3; Ding et al. 2021, arXiv:2105.07260.
    """

    name: ClassVar[str] = "noisy-max"
    draw: ClassVar[Draw] = LaplaceNoisyMax()
    # Laplace noise must be small at the best candidate and at the drawn one.
    gap: ClassVar[float] = 2.0


_EXPONENTIAL = Exponential()


def _draw(name: str, given: object) -> Draw:
    """Return a draw, also by its name."""
    named = {one.name: one for one in (_EXPONENTIAL, PermuteAndFlipDraw())}
    if isinstance(given, str):
        return named[validation.one_of(name, given, named)]
    if isinstance(given, Draw):
        return given
    raise ParameterError(
        f"`{name}` must be 'exponential' or 'permute-and-flip', or a draw of dpselect.draws"
    )


@dataclass(frozen=True, kw_only=True)
class _EitherDraw(Mechanism):
    """A mechanism that can use the exponential draw or permute-and-flip.

    Attributes:
        draw: ``"exponential"``, as in the papers, or ``"permute-and-flip"``: epsilon-DP too,
            and never worse in the unit scores; in the scores themselves only where the scaling
            keeps their order. Or a draw of ``dpselect.draws``.
    """

    draw: Annotated[Draw, _draw] = _EXPONENTIAL

    @property
    def label(self) -> str:
        return self.name if self.draw == _EXPONENTIAL else f"{self.name}, {self.draw.name}"


@dataclass(frozen=True, kw_only=True)
class LocalDampening(_EitherDraw):
    """Draw by ``exp(ε D(u_r) / 2)``, with scores dampened locally.

    Source: Farias et al., VLDB J. 2023, Definition 13 and Theorem 3.
    """

    name: ClassVar[str] = "local-dampening"
    scaling = staticmethod(scaling.dampened)
    one_scaling: ClassVar[bool] = True

    def gap_per_unit(self, attained: float | None = None) -> float:
        # Dampened from 0, a unit is at most one global sensitivity.
        return 1.0 if attained == 0 else inf


@dataclass(frozen=True, kw_only=True)
class ShiftedLocalDampening(_EitherDraw):
    """Local dampening of scores shifted by infinity, in closed form.

    Attributes:
        direction: ``"non-decreasing"`` if candidates with larger scores have larger
            sensitivities, else ``"non-increasing"``; the objective's own if not given. Public.

    Source: Farias et al., VLDB J. 2023, Definitions 15 and 16.
    """

    direction: Direction | None = None
    name: ClassVar[str] = "shifted"
    scaling = staticmethod(scaling.shifted)
    one_scaling: ClassVar[bool] = True
    facts: ClassVar[dict[str, str]] = {"direction": "direction"}


@dataclass(frozen=True, kw_only=True)
class AnchoredLocalDampening(_EitherDraw):
    """Local dampening of the distance to a public anchor.

    Attributes:
        anchor: A number at or above the best score that can occur, in score units; the
            objective's ``highest`` if not given. Public.
    """

    anchor: Annotated[float | None, validation.finite] = None
    name: ClassVar[str] = "anchored"
    scaling = staticmethod(scaling.anchored)
    one_scaling: ClassVar[bool] = True
    facts: ClassVar[dict[str, str]] = {"anchor": "highest"}

    def gap_per_unit(self, attained: float | None = None) -> float:
        return 1.0 if attained is not None and attained == self.anchor else inf


@dataclass(frozen=True, kw_only=True)
class PairwiseLocalDampening(_EitherDraw):
    """Local dampening of the differences between candidates: the best is always first.

    Each of ``k`` draws compares the candidates that have not been drawn before (Theorem 11 of
    ``docs/report``).
    """

    name: ClassVar[str] = "pairwise"
    scaling = staticmethod(scaling.pairwise)
    gap: ClassVar[float] = 2.0


@dataclass(frozen=True, kw_only=True)
class GeneralizedExponential(_EitherDraw):
    """The exponential mechanism for one global sensitivity per candidate.

    Attributes:
        t: Penalty, in units of the sensitivity; ``(2/ε) ln(n/0.05)`` if not given, with which
            the best candidate stays ahead of the noise of all others with probability 0.95.
            Public.

    Source: Raskhodnikova and Smith, arXiv:1504.07912.
    """

    t: Annotated[float | None, validation.numbers(0, LARGEST_PENALTY)] = None
    name: ClassVar[str] = "generalized"

    def unit_scores(self, objective: Objective) -> Scores:
        default = min(2 / self.epsilon * log(len(objective) / 0.05), LARGEST_PENALTY)
        return scaling.generalized(objective, default if self.t is None else self.t)


MECHANISMS: dict[str, type[Mechanism]] = {
    one.name: one
    for one in (
        *(ExponentialMechanism, PermuteAndFlip, ReportNoisyMax),
        *(LocalDampening, ShiftedLocalDampening, AnchoredLocalDampening),
        *(PairwiseLocalDampening, GeneralizedExponential, NoisySequence),
    )
}
"""Every mechanism of the library by its short name, with its defaults."""
