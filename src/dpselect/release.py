"""Releases: answers that may be published."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Generic, Self, TypeVar

from dpselect import writing
from dpselect._optional import np, pl, version
from dpselect.errors import ParameterError
from dpselect.neighbours import Neighbours
from dpselect.plan import Plan, Receipt

T_co = TypeVar("T_co", covariant=True)

NOT_OF_THE_ANSWER = {"plan", "version", "entry", "repeated", "answered", "read"}
"""Fields of a release that its query and its entry state."""

FORMULA = re.compile(r"[=+@]|-(?!([0-9.]+(e[+-][0-9]+)?(, -?|$))+$)")
"""With which a spreadsheet begins a formula. A negative number, or some of them, is none."""


@dataclass(frozen=True, repr=False)
class Release(writing.Card, Generic[T_co]):
    """The answer of a mechanism, with everything needed to judge the guarantee.

    It holds no probabilities or ranks, and no scores except noisy ones that are part of the
    price.

    Attributes:
        answer: The chosen candidates, in the order drawn; or the members of a subset. Numbers
            among them are Python's.
        plan: The public arguments, the neighbour relation and the price.
        exact: Whether it was drawn by the exact samplers of ``dpselect.draws``.
        noisy_scores: The noisy score of each candidate of the answer, in its order, if the
            mechanism releases them at the same price; else None. Score units.
        refunded: The part of the plan's epsilon that the answer did not cost, in nats.
        version: The version of dpselect that drew it.
        entry: The number of its entry in the budget; None if nothing was recorded.
        repeated: Whether the answer was taken from that entry, so that nothing was drawn or
            spent.
        answered: The date of that entry and the version of its data, in words; None of a new
            answer.
        interval: The ends of the interval of each value or score, if intervals were asked for.
        read: How fields of a text file were read, in words; public.
        certain: Whether each candidate is certainly one of the best, likewise. None under a
            cap: intervals are then of the counted rows alone, and so would this be.
    """

    answer: tuple[T_co, ...]
    plan: Plan
    exact: bool = True
    noisy_scores: tuple[float, ...] | None = None
    refunded: float = field(default=0.0, kw_only=True)
    version: str = field(default_factory=version, kw_only=True)
    entry: int | None = field(default=None, kw_only=True)
    repeated: bool = field(default=False, kw_only=True)
    answered: str | None = field(default=None, kw_only=True)
    interval: tuple[tuple[Any, Any], ...] | None = field(default=None, kw_only=True)
    certain: tuple[bool, ...] | None = field(default=None, kw_only=True)
    read: str = field(default="", kw_only=True, compare=False)

    def __post_init__(self) -> None:
        numpys = np.number, np.bool_, np.str_
        plain = [one.item() if isinstance(one, numpys) else one for one in self.answer]
        object.__setattr__(self, "answer", tuple(plain))

    def recorded(self, receipt: Receipt, *, repeatable: bool = False, **more: Any) -> Self:  # noqa: ANN401
        """Record the answer with its spend, refund what it did not cost, and return it.

        Args:
            receipt: The receipt that charging the plan returned.
            repeatable: Whether the release can be made again from its fields.
            more: Fields that it has now.

        Returns:
            The release with the entry's number.
        """
        entry = receipt.entry
        now = {"entry": entry and entry.sequence, **more}
        found = self if now.items() <= vars(self).items() else replace(self, **now)
        if entry is not None:
            kept = found._made_of() if repeatable and entry.key else None  # noqa: SLF001 -- its own
            shown = writing.readable(found.shown())
            receipt.keep(found.released(), refund=found.refunded, release=kept, shown=shown)
        return found

    def _made_of(self) -> dict[str, Any] | None:
        """Return the fields that an equal release is made of with its plan, as JSON has them.

        None if not all of the answer is released, or a field does not come back as it was.
        """
        if self.released().get("answer") != list(self.answer):
            return None
        names = [one.name for one in fields(self) if one.name not in NOT_OF_THE_ANSWER]
        given = {name: getattr(self, name) for name in names}
        try:
            kept = {
                name: writing.to_json(one, partial(writing.refused, name))
                for name, one in given.items()
            }
        except ParameterError:
            return None
        found = {name: writing.from_json(name, one) for name, one in kept.items()}
        return kept if found == given else None

    @classmethod
    def remade(cls, kept: Mapping[str, Any], **more: Any) -> Self:  # noqa: ANN401
        """Return a release made from the fields that a ledger keeps, and further ones."""
        return cls(**{name: writing.from_json(name, one) for name, one in kept.items()}, **more)

    def released(self) -> dict[str, Any]:
        """Return all that was released, as plain Python values by name."""
        known: dict[str, Any] = {
            "noisy_scores": self.noisy_scores,
            "refunded": self.refunded or None,
            "interval": None if self.interval is None else [[*ends] for ends in self.interval],
            "meaning": self.meaning,
            "certain": self.certain,
            "usable": self.usable,
        }
        stated = {name: one for name, one in known.items() if one is not None}
        plain = {n: list(one) if isinstance(one, tuple) else one for n, one in stated.items()}
        return {"answer": list(self.answer), **plain}

    @property
    def usable(self) -> tuple[bool, ...] | None:
        """Whether each row of the answer is more than noise; None where nothing released says.

        It is computed from what was released, so it costs nothing.
        """
        if self._beside_noise is None:
            return None
        counts, noise = self._beside_noise
        return tuple(one > noise for one in counts)

    @property
    def _beside_noise(self) -> tuple[Sequence[float], float] | None:
        """The noisy count of each row, and what that of nothing is at most; None without.

        A bound on the error of noisy counts is twice what the noise of all candidates is at
        most at once (``NoisySequence.largest_gap``).
        """
        counted = self.query is not None and self.query.counts_what_it_scores
        if not counted or self.noisy_scores is None or self.plan.error is None:
            return None
        return self.noisy_scores, self.plan.error.value / 2

    @property
    def _doubt(self) -> str | None:
        """Which rows may be noise, in words; None where none may."""
        if self._beside_noise is None or all(self.usable or ()):
            return None
        (counts, noise), error = self._beside_noise, self.plan.error
        few = sum(one <= noise for one in counts)
        which = "all of it" if few == len(counts) else f"{few} of {len(counts)} rows"
        held = "" if error is None else f" with probability {error.probability:g}"
        return (
            f"{which} may be noise alone: where nothing is to be counted, a "
            f"noisy count is at most {noise:.3g}{held}"
        )

    def table(self) -> dict[str, list[Any]]:
        """Return the answer as columns by name, one row for each candidate."""
        columns: dict[str, list[Any]] = {self._heads[0]: list(self.answer)}
        if self.noisy_scores is not None:
            columns["noisy_score"] = list(self.noisy_scores)
        return columns | self.ends()

    @property
    def _heads(self) -> tuple[str, str]:
        """What the answer is, and its noisy scores."""
        return ("answer", "score, noisy") if self.query is None else self.query.heads()

    def ends(self) -> dict[str, list[Any]]:
        """Return the ends of the intervals and ``certain``, as columns."""
        if self.interval is None:
            return {}
        ends = {
            "low": [low for low, _ in self.interval],
            "high": [top for _, top in self.interval],
        }
        return ends if self.certain is None else {**ends, "certain": list(self.certain)}

    @property
    def meaning(self) -> str | None:
        """Meaning of the intervals, in words; None without them."""
        if self.interval is None:
            return None
        asked = self.arguments
        best = (
            f"{asked['above']:g} or more"
            if "above" in asked
            else f"of the {asked['k']} largest"
        )
        sure = "" if self.certain is None else f"; certain: {best}, likewise"
        return (
            f"low to high hold the numbers of {self._whose}, all at once, with "
            f"probability {asked['interval']:g}{sure}"
        )

    @property
    def _whose(self) -> str:
        """What intervals are of, in words: under a cap, the rows that are counted alone."""
        cap = (self.plan.counted or "").removesuffix("; the rest is ignored")
        return f"the counted rows alone ({cap})" if cap else "these records"

    def shown(self) -> dict[str, list[Any]]:
        """Return ``table`` as people read it, noisy scores with six significant digits."""
        columns = self.table()
        if "noisy_score" not in columns:
            return columns
        answer, score = self._heads
        rounded = [float(f"{one:.6g}") for one in columns.pop("noisy_score")]
        return {answer: columns.pop(answer), score: rounded} | columns

    def to_frame(self) -> pl.DataFrame:
        """Return ``table`` as a polars frame.

        Raises:
            MissingDependencyError: polars is not installed.
        """
        return pl.DataFrame(self.table(), strict=False)

    @property
    def candidate(self) -> T_co:
        """The candidate drawn first."""
        return self.answer[0]

    @property
    def query(self) -> Any:  # noqa: ANN401 -- whose module knows this one
        """The query that was answered."""
        return self.plan.query

    @property
    def arguments(self) -> Mapping[str, object]:
        """The public arguments of the release, among them the columns that were read."""
        return self.plan.arguments

    @property
    def mechanism(self) -> str:
        """The mechanism with its public parameters."""
        return self.plan.mechanism

    @property
    def epsilon(self) -> float:
        """Epsilon of the whole release, in nats, for all candidates together."""
        return self.plan.epsilon

    @property
    def delta(self) -> float:
        """Delta of the whole release."""
        return self.plan.delta

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation that epsilon is stated for."""
        return self.plan.neighbours

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain Python values."""
        names = ("exact", "version", "entry", "repeated", "answered")
        own = {name: getattr(self, name) for name in names}
        return {**self.released(), **self.plan.to_dict(), **own}

    def to_json(self) -> str:
        """Return the release as one JSON object; candidates it cannot hold as text."""
        return json.dumps(self.to_dict(), default=str)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.answer[: writing.SHOWN]))
        more = f", ... {len(self.answer)} in all" if len(self.answer) > writing.SHOWN else ""
        return (
            f"<{type(self).__name__} of {self.plan.name}: {shown or 'nothing'}{more}; "
            f"{self.plan.price}>"
        )

    @property
    def facts(self) -> dict[str, object]:
        """What is said of the release beside its answer, by name, where there is something."""
        known = {
            "warning": self._doubt,
            "error": self.plan.error,
            "interval": self.meaning,
            "counted": self.plan.counted,
        }
        return {name: fact for name, fact in known.items() if fact is not None}

    def __str__(self) -> str:
        facts = writing.stated({**self.facts, "read": self.read})
        last = self.plan.price + (f", entry {self._entry}" if self._entry else "")
        return "\n".join([*writing.lines(self.shown()), self.plan.description, *facts, last])

    @property
    def _entry(self) -> str:
        """The number of the entry, if there is one, and what it answered."""
        if self.entry is None:
            return ""
        said = f", which answered {self.answered}: nothing was spent" if self.repeated else ""
        return f"{self.entry}{said}"


def for_csv(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame that can be written, whose texts a spreadsheet takes for texts.

    Those that begin as a formula does get an apostrophe before them; durations are in words.
    """

    def cell(text: str) -> str:
        given = writing.in_a_cell(text)
        return f"'{given}" if FORMULA.match(given) else given

    texts = pl.col(pl.String).map_elements(cell, return_dtype=pl.String)
    times = pl.col(pl.Duration).map_elements(writing.duration, return_dtype=pl.String)
    return frame.with_columns(texts, times).rename(cell)
