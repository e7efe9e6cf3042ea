"""``dpselect select``: choose from a table of candidates with scores and sensitivities."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, takewhile
from math import inf, nan
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from dpselect import tables, validation
from dpselect.cli import options
from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.combine import by_name as combined, mechanism_for, weighted_sum
from dpselect.combine.fronts.dominance import Dominance, checked_dominance
from dpselect.combine.registry import UNITS
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism, Selection, by_name
from dpselect.mechanisms.base import checked_k
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.sensitivity import ElementSensitivity, GlobalSensitivity, Sensitivity

if TYPE_CHECKING:
    from dpselect.budget import Budget
    from dpselect.release import Release

FORM = "COLUMN[:WEIGHT]:global=BOUND[:local=PREFIX][:highest=SCORE][:monotone]"

_OBJECTIVE = re.compile(
    r"(?P<column>[^:]+)(:(global=(?P<bound>[^:]+)|local=(?P<local>[^:]+)"
    r"|highest=(?P<highest>[^:]+)|(?P<monotone>monotone)|(?P<weight>[^:=]+)))+"
)
_INTEGER = re.compile(r"\s*[+-]?\d{1,30}\s*")


class Select(QueryCommand):
    """Release candidates by scores of your own: a table with one row per candidate.

    Which rows there are is public, scores are private. Several objectives are one by PrivPareto
    (--combine pareto), PrivAgg (--combine weighted-sum) or --combine margin, which is ours.

    An objective is COLUMN[:WEIGHT]:global=BOUND[:local=PREFIX][:highest=SCORE][:monotone].
    WEIGHT -1 makes smaller better. BOUND is what one individual can change of a score: a
    number, or a column with one for each candidate. With local=PREFIX the columns PREFIX0,
    PREFIX1, ... hold the sensitivity at distance 0, 1, ...; beyond the last the bound is taken.
    SCORE is one that no candidate exceeds, whatever the data. A weighted sum of some is one
    objective: join them by " + ".

    $ dpselect select offers.csv --objective votes:global=1:monotone --label offer
    --neighbours add-remove --epsilon 1

    $ dpselect select offers.csv --objective cost:-2:global=5 --objective quality:global=1
    --combine margin --neighbours substitute --epsilon 1

    $ dpselect select offers.csv --objective 'cost:-2:global=5 + delay:-1:global=9'
    --objective quality:global=1 --neighbours substitute --epsilon 1

    Args:
        objective: COLUMN:global=BOUND, such as votes:global=1; may be repeated.
        k: How many candidates.
        neighbours: One of add-remove, substitute, edge, swap: what one individual is.
        combine: For several objectives: pareto, weighted-sum, margin.
        dominance: For pareto: standard, weak (also if equal in all) or strict.
        label: A public column to release from; row numbers if not given.
        mechanism: exponential, permute-and-flip, noisy-max, local-dampening, shifted, anchored,
            pairwise, generalized or noisy-sequence. By default permute-and-flip, and for pareto
            local-dampening of one candidate, pairwise of several.
        direction: non-decreasing or non-increasing: whether larger scores have larger
            sensitivities. Only for shifted; known where all candidates have the same.
    """

    name, query, left_out = "select", "Selection", ("above", "mechanism", "where")
    needed = ("objective", "epsilon")
    leaving = "All rows"
    options = {"k": Option(kind=int, default=1), "neighbours": Option()}
    more = {
        "objective": list[str],
        **dict.fromkeys(("epsilon", "combine", "dominance", "label"), str),
        **dict.fromkeys(("mechanism", "direction"), str),
    }

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return how candidates are drawn, by what the table states of all scores."""
        asked = given.options
        terms = [[*map(_parse, text.split(options.PLUS))] for text in asked["objective"]]
        combine = (asked["combine"] or "pareto") if len(terms) > 1 else None
        kind = checked_dominance(asked["dominance"] or "standard", combine, of="combine")
        protected = validation.neighbours(asked["neighbours"])
        table = _Table(given.table, terms, combine, kind, protected)
        lone = asked["k"] in {None, 1}
        how = {"name": asked["mechanism"] or mechanism_for(combine, kind, rounds=lone)}
        if how["name"] == "shifted" and asked["direction"] is not None:
            how["direction"] = asked["direction"]
        # Of scores of 0: candidates, bounds and facts are public and stay the same.
        rows = table.rows(asked["label"])
        public = table.objective(lambda _: np.zeros(rows))
        mechanism = _with_facts(by_name(how, asked["epsilon"]), public)
        return {"mechanism": mechanism, "table": table, "public": public}

    def asked(self, given: Given) -> Mapping[str, object]:
        """Return what the objective is made of."""
        asked, table = given.options, given.options["table"]
        stated = {
            "objective": asked["objective"],
            "combine": table.combine,
            "dominance": table.dominance if table.dominance != "standard" else None,
            "label": asked["label"],
        }
        return {name: one for name, one in stated.items() if one is not None}

    def facts(self, query: Selection, given: Given) -> Mapping[str, object]:
        """Return how far one drawn candidate can be from the best."""
        public, table = given.options["public"], given.options["table"]
        pareto = table.combine == "pareto"
        front = pareto and table.dominance != "weak"
        mechanism = cast("Mechanism", query.mechanism)
        error = mechanism.single_round(checked_k(query.k or 1, public)).error_bound(
            public,
            table.unit,
            # Some candidate is on the front of every table, where the score is 0 unless equal
            # candidates dominate each other.
            attained=0.0 if front else None,
            largest=len(public) - 1 if pareto else inf,
        )
        return {"error": error}

    def release(self, query: Selection, given: Given, budget: Budget | None) -> Release[Any]:
        """Draw from the scores."""
        table, name = given.options["table"], given.options["label"]
        plain = [] if name is None else [name]
        labels = tables.read_columns(given.table, numeric=[], plain=plain) if plain else None
        whole = table.objective(table.scores, None if labels is None else list(labels[name]))
        return query.release(whole, budget=budget)

    def after(self, release: Release[Any], given: Given) -> Mapping[str, object]:
        """Return the error, as of the dry run."""
        return self.facts(release.query, given)


class _Term(NamedTuple):
    """A term of an ``--objective``, in its parts."""

    column: str
    bound: str
    local: str | None
    highest: float | None
    monotone: str | None
    weight: float


def _parse(text: str) -> _Term:
    """Return the parts of ``FORM``."""
    found = _OBJECTIVE.fullmatch(text)
    if found is not None and found["bound"] is not None:
        with suppress(ValueError):
            parts: dict[str, Any] = found.groupdict()
            parts |= {"weight": float(found["weight"] or 1)}
            parts |= {"highest": found["highest"] and float(found["highest"])}
            return _Term(**parts)
    if ":" not in text:
        raise ParameterError(
            f"how much can one individual change {text!r}? give `objective` {text}:global=BOUND"
        )
    raise ParameterError(f"`objective` {text} must be {FORM}, as cost:-1:global=5")


@dataclass(frozen=True)
class _Table:
    """A file of candidates, and the objectives that it holds."""

    held: object
    terms: Sequence[Sequence[_Term]]
    combine: str | None
    dominance: Dominance
    relation: Neighbours

    @property
    def unit(self) -> str:
        """The unit of the scores."""
        if self.combine is not None:
            return UNITS[self.combine].format("candidates")
        return f"units of {options.PLUS.join(term.column for term in self.terms[0])}"

    def objective(
        self, column: Callable[[str], ArrayLike], labels: Sequence[object] | None = None
    ) -> Objective:
        """Return the combined objective.

        Args:
            column: Returns a private column by its name, or zeros in its place.
            labels: Labels of the candidates.
        """
        parts = [
            weighted_sum(
                [
                    Objective(
                        column(term.column),
                        self._sensitivity(term, column),
                        labels,
                        monotone=term.monotone is not None,
                        highest=term.highest,
                    )
                    for term in terms
                ],
                [term.weight for term in terms],
            )
            for terms in self.terms
        ]
        if self.combine is None:
            return parts[0]
        return combined(self.combine, parts, dominance=self.dominance)

    def scores(self, name: str) -> list[float]:
        """Return a column of numbers, integers with all their digits."""
        tables.check_columns(self.held, numeric=[name])
        column = tables.read_columns(self.held, numeric=[], plain=[name])[name]
        if column.dtype.is_integer():
            return [nan if one is None else one for one in column.to_list()]
        numbers: list[float] = tables.numeric_column(self.held, name).tolist()
        if column.dtype.is_numeric():
            return numbers
        fields = zip(column.to_list(), numbers, strict=True)
        return [int(text) if _INTEGER.fullmatch(str(text)) else one for text, one in fields]

    def rows(self, label: str | None) -> int:
        """Return the number of candidates, which is public."""
        numeric = [term.column for terms in self.terms for term in terms]
        return tables.count_records(
            self.held, numeric=numeric, plain=[] if label is None else [label]
        )

    def _sensitivity(self, term: _Term, column: Callable[[str], ArrayLike]) -> Sensitivity:
        """Return the local sensitivity where the table has one, else the global one."""
        try:
            bound: ArrayLike = float(term.bound)
        except ValueError:
            bound = tables.numeric_column(self.held, term.bound)
        if term.local is None:
            return GlobalSensitivity(bound, self.relation)
        names = self._local_columns(term.local)
        values = [np.asarray(column(name), dtype=np.float64) for name in names]
        return ElementSensitivity(values.__getitem__, bound, self.relation, horizon=len(names))

    def _local_columns(self, prefix: str) -> list[str]:
        names = tables.open_table(self.held).collect_schema().names()
        numbered = (f"{prefix}{distance}" for distance in count())
        columns = list(takewhile(names.__contains__, numbered))
        if not columns:
            raise ParameterError(f"local={prefix} needs a column {prefix}0")
        return columns


def _with_facts(mechanism: Mechanism, public: Objective) -> Mechanism:
    """Return the mechanism with the facts of an objective of no data."""
    try:
        return mechanism.for_objective(public)
    except ParameterError:
        needs = {"shifted": "`direction`", "anchored": "highest=SCORE in every `objective`"}
        raise ParameterError(
            f"`mechanism` {mechanism.name} needs {needs.get(mechanism.name, 'more')}"
        ) from None
