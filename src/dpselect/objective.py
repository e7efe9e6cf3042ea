"""Objectives: scores of candidates with their sensitivity to one individual."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from sys import float_info
from typing import Any

from dpselect import validation
from dpselect._optional import np, silent
from dpselect._twofold import Twofold, add, largest
from dpselect.errors import ParameterError, ScoresError, SensitivityError
from dpselect.neighbours import Neighbours
from dpselect.passes import replaced
from dpselect.sensitivity import Sensitivity
from dpselect.typing import ArrayLike, Direction, Indices, Scores, Values

NO_NUMBERS = "scores must be finite numbers, one for each candidate"
BY_NAME = (
    "scores must be numbers in an order: give those of a dict, and its keys as `candidates`"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is public of an objective, stated without one.

    Attributes:
        candidates: Number of candidates, > 0.
        sensitivity: As of the objective, like all that follows.
        monotone: Whether all scores move in the same direction.
        highest: A score that no candidate exceeds on any database.
        direction: How the sensitivity changes with the scores.
        step: A number that all scores are multiples of.
    """

    candidates: int
    sensitivity: Sensitivity
    monotone: bool = False
    highest: float | None = None
    direction: Direction | None = None
    step: float | None = None

    def __len__(self) -> int:
        return self.candidates

    def of(
        self, scores: ArrayLike | Twofold, candidates: Sequence[Hashable] | None = None
    ) -> Objective:
        """Return the objective of private scores that have these facts."""
        return Objective(scores, self.sensitivity, candidates, **_stated(self))


def _stated(of: Facts | Objective) -> dict[str, Any]:
    """Return what is public of the scores, by the names of an objective's arguments."""
    return {name: getattr(of, name) for name in ("monotone", "highest", "direction", "step")}


@dataclass(frozen=True, eq=False, repr=False)
class Objective:
    """Scores of public candidates, with the most that one neighbour step can change them.

    Attributes:
        scores: One number per candidate, shape ``(n,)``, ``n >= 1``, finite; larger is
            better. Private; kept as a read-only float64 copy.
        low_order: What float64 rounds away of the scores, shape ``(n,)``: 0 for floats, and for
            integers up to 2^53. Mechanisms use ``scores + low_order``. It is computed of the
            scores; what ``dataclasses.replace`` gives with new ones is ignored. Private.
        sensitivity: How much one individual can change the scores.
        candidates: The possible outputs, in the order of the scores; positions ``0`` to
            ``n - 1`` if not given. Public: it must be the same for every database.
        monotone: Whether every neighbour step moves all scores in the same direction (or
            not at all), as adding a record does to counts. Public.
        highest: A score that no candidate exceeds on any database, if one is known: the default
            anchor of ``AnchoredLocalDampening``. Score units. Public.
        direction: Whether candidates with larger scores have larger sensitivities
            (``"non-decreasing"``) or smaller ones (``"non-increasing"``), if that is known: the
            default of ``ShiftedLocalDampening``, which finds the best candidate if it holds of
            all pairs, and may not otherwise, at any epsilon. Public.
        step: A number that all scores are integer multiples of, on every database, if one is
            known, such as 1 for counts: ``NoisySequence`` adds noise in these steps. Score
            units, finite, > 0. Public.

    Raises:
        ScoresError: ``scores`` is empty, not one-dimensional or not finite.
        SensitivityError: ``sensitivity`` is for another number of candidates.
        ParameterError: ``candidates`` is no sequence or of another length, ``highest`` is not
            finite, ``direction`` is neither, or ``step`` is not finite and > 0.

    Examples:
        >>> import dpselect as dp
        >>> one_vote = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)
        >>> dp.Objective([3, 9, 4], one_vote, candidates=["red", "green", "blue"])
        Objective(3 candidates,
            GlobalSensitivity(bound=1, neighbours=add-remove, horizon=1048576))
    """

    scores: Scores
    low_order: Scores
    sensitivity: Sensitivity
    candidates: Sequence[Hashable]
    monotone: bool
    highest: float | None
    direction: Direction | None
    step: float | None

    def __init__(
        self,
        scores: ArrayLike | Twofold,
        sensitivity: Sensitivity,
        candidates: Sequence[Hashable] | None = None,
        *,
        monotone: bool = False,
        highest: float | None = None,
        direction: Direction | None = None,
        step: float | None = None,
        low_order: ArrayLike | None = None,
    ) -> None:
        if low_order is not None and _are_parts(scores, low_order):
            scores = Twofold(*map(np.asarray, (scores, low_order)))
        checked, low_order = exact_scores(scores)
        validation.instance("sensitivity", sensitivity, Sensitivity)
        if (shape := sensitivity.at(0).shape) not in {(), checked.shape}:
            raise SensitivityError(
                f"the sensitivity is of shape {shape} and there are "
                f"{checked.size} candidates: give one number, or one for each candidate"
            )
        # A Series is asked for labels, not for positions.
        if (labelled := getattr(candidates, "to_list", None)) is not None:
            candidates = labelled()
        if candidates is None:
            candidates = range(checked.size)
        elif (length := _length(candidates)) != checked.size:
            raise ParameterError(
                f"`candidates` must be {checked.size}, one for each score, not {length}"
            )
        # At once: a frozen class would set them one by one.
        vars(self).update(
            scores=checked,
            low_order=low_order,
            sensitivity=sensitivity,
            candidates=candidates,
            monotone=validation.truth("monotone", monotone),
            highest=None if highest is None else validation.finite("highest", highest),
            direction=None
            if direction is None
            else validation.one_of("direction", direction, Direction),
            step=None if step is None else validation.positive("step", step),
        )

    def __len__(self) -> int:
        return self.scores.size

    def __repr__(self) -> str:
        return f"Objective({len(self)} candidates, {self.sensitivity!r})"

    def take(self, positions: Indices) -> Objective:
        """Return the objective of the candidates at some public positions, in their order."""
        return Objective(
            Twofold(self.scores[positions], self.low_order[positions]),
            self.sensitivity.take(positions),
            [self.candidates[position] for position in positions],
            **_stated(self),
        )

    @property
    def scores_twofold(self) -> Twofold:
        """The scores with what float64 rounds away of them; private."""
        return Twofold(self.scores, self.low_order)

    def gaps(self) -> Twofold:
        """Return each score minus the best one, <= 0 and finite; private.

        Differences of large scores keep the digits that the scores lose as floats.
        """
        return self.less(self.scores_twofold.at(largest(self.scores_twofold)))

    @silent
    def less(self, one: Twofold) -> Twofold:
        """Return each score minus a number, finite; private."""
        gaps = add(self.scores_twofold, -one)
        if (fits := np.isfinite(gaps.high)).all():
            return gaps
        most = np.copysign(float_info.max, self.scores - one.high)
        return Twofold(np.where(fits, gaps.high, most), np.where(fits, gaps.low, 0.0))

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the sensitivity."""
        return self.sensitivity.neighbours


def _length(candidates: Sequence[Hashable]) -> int:
    # What has no order, as a set or a table by name, has no candidate for each score.
    ordered = hasattr(candidates, "__getitem__") and not hasattr(candidates, "keys")
    if not ordered or not hasattr(candidates, "__len__"):
        raise ParameterError(
            "`candidates` must be a list or another sequence, in the order of the scores, not "
            f"a {type(candidates).__name__}"
        )
    return len(candidates)


def exact_scores(values: ArrayLike | Twofold) -> Twofold:
    """Return scores as a read-only float64 vector, with what it rounds away.

    Integers, fractions and decimals are exact, whatever the size of the others: nothing of one
    score depends on another. Texts and dates are no scores.

    Raises:
        ScoresError: Empty, not one-dimensional, not numeric or not finite, or an integer of
            more than 106 bits.
    """
    if isinstance(values, Twofold):
        vector, rest = (np.array(part, dtype=np.float64) for part in values)
    else:
        if isinstance(values, np.ndarray) and values.dtype.kind in "USmMc":
            raise ScoresError(NO_NUMBERS)
        vector = replaced(
            lambda: np.array(values, dtype=np.float64),
            lambda: ScoresError(BY_NAME if isinstance(values, Mapping) else NO_NUMBERS),
        )
        rest = None
    if vector.ndim != 1 or vector.size == 0:
        raise ScoresError(
            "scores must be one number for each of at least one candidate, in one dimension, "
            f"not {vector.ndim}"
        )
    sizes = np.abs(vector)
    if not (most := sizes.item(sizes.argmax())) < np.inf:
        raise ScoresError("scores must be finite; at least one is NaN or infinite")
    both = np.zeros((2, vector.size))
    both[0], low = vector, _rounded_away(values, vector, most) if rest is None else rest
    if low is not None:
        both[1] = low
    both.setflags(write=False)
    return Twofold(both[0], both[1])


def _are_parts(scores: Any, low_order: Any) -> bool:  # noqa: ANN401 -- as they were given
    """Return whether both are of one objective, as where ``dataclasses.replace`` makes another.

    What was rounded away of the former scores is nothing that new ones have.
    """
    bases = [getattr(one, "base", None) for one in (scores, low_order)]
    # What a sum does not round away is no part that was.
    return bases[0] is bases[1] is not None and np.array_equal(scores + low_order, scores)


def _rounded_away(values: Any, vector: Values, most: float) -> Values | None:  # noqa: ANN401
    """Return what float64 left of each number, of at most such a size; None for nothing."""
    kind = values.dtype if isinstance(values, np.ndarray) else np.dtype(object)
    if kind.kind == "f":
        return np.asarray(values - vector, dtype=np.float64) if kind.itemsize > 8 else None
    of_python = {int, float}
    if most < validation.EXACT and (kind.kind in "biu" or {*map(type, values)} <= of_python):
        return None
    array = replaced(lambda: np.asarray(values, dtype=object), lambda: ScoresError(NO_NUMBERS))
    pairs = zip(array, vector.tolist(), strict=True)
    return np.array([_left(one, rounded) for one, rounded in pairs])


def _left(number: object, rounded: float) -> float:
    """Return what float64 left of a number."""
    if isinstance(number, float):
        return 0.0
    if isinstance(number, Integral):
        left = int(number) - int(rounded)
        if abs(left) > validation.EXACT:
            raise ScoresError("scores that are integers must be of at most 106 bits")
        return left
    if isinstance(number, Rational | Decimal):
        return float(Fraction(number) - Fraction(rounded))
    if isinstance(number, np.floating):
        return float(number - type(number)(rounded))
    raise ScoresError(NO_NUMBERS)
