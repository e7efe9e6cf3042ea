"""``dpselect select``: choose from a table of candidates with scores and sensitivities."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from math import nan
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import ArrayLike

from dpselect import tables
from dpselect.cli import options, output
from dpselect.combine import COMBINATIONS, by_name as combined, mechanism_for, weighted_sum
from dpselect.combine.pareto.dominance import Dominance, checked_dominance
from dpselect.errors import ParameterError
from dpselect.mechanisms import MECHANISMS, Mechanism, Selection, by_name
from dpselect.mechanisms.base import checked_k
from dpselect.neighbours import Neighbours
from dpselect.objective import Objective
from dpselect.plan import ErrorBound
from dpselect.sensitivity import ElementSensitivity, GlobalSensitivity, Sensitivity

FORM = "COLUMN[:WEIGHT]:global=BOUND[:local=PREFIX][:highest=SCORE][:monotone]"

HELP = f"""Release candidates by scores of your own: a table with one row per candidate.

Which rows there are is public, scores are private. Several objectives are one by PrivPareto
(--combine pareto), PrivAgg (--combine weighted-sum) or --combine margin, which is ours.

An objective is {FORM}. WEIGHT -1 makes smaller
better. BOUND is what one individual can change of a score: a number, or a column with one
for each candidate. With local=PREFIX the columns PREFIX0, PREFIX1, ... hold the sensitivity at
distance 0, 1, ...; beyond the last the bound is taken. SCORE is one that no candidate exceeds,
whatever the data. A weighted sum of some is one objective: join them by " + ".

[bold]dpselect select offers.csv --objective votes:global=1:monotone --label offer \
--neighbours add-remove --epsilon 1[/bold]

[bold]dpselect select offers.csv --objective cost:-2:global=5 --objective quality:global=1 \
--combine margin --neighbours substitute --epsilon 1[/bold]

[bold]dpselect select offers.csv --objective 'cost:-2:global=5 + delay:-1:global=9' \
--objective quality:global=1 --neighbours substitute --epsilon 1[/bold]
"""

_OBJECTIVE = re.compile(
    r"(?P<column>[^:]+)(:(global=(?P<bound>[^:]+)|local=(?P<local>[^:]+)"
    r"|highest=(?P<highest>[^:]+)|(?P<monotone>monotone)|(?P<weight>[^:=]+)))+"
)
_INTEGER = re.compile(r"\s*[+-]?\d{1,30}\s*")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("select", help=HELP)(options.with_dialect(select))


def select(
    scores: Annotated[
        str, typer.Argument(help="A .parquet, .csv or .tsv file, a candidate a row.")
    ],
    objective: Annotated[
        list[str],
        typer.Option(help="COLUMN:global=BOUND, such as votes:global=1; may be repeated."),
    ],
    neighbours: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(map(str, Neighbours))}: what one individual is."),
    ],
    epsilon: options.Epsilon,
    k: Annotated[int, typer.Option("--k", help="How many candidates.")] = 1,
    combine: Annotated[
        str, typer.Option(help=f"For several objectives: {', '.join(COMBINATIONS)}.")
    ] = "pareto",
    dominance: Annotated[
        str,
        typer.Option(help="For pareto: standard, weak (also if equal in all) or strict."),
    ] = "standard",
    label: Annotated[
        str | None,
        typer.Option(help="A public column to release from; row numbers if not given."),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(MECHANISMS)}. By default permute-and-flip, and for pareto "
            "local-dampening of one candidate, pairwise of several."
        ),
    ] = None,
    direction: Annotated[
        str | None,
        typer.Option(
            help="non-decreasing or non-increasing: whether larger scores have larger "
            "sensitivities. Only for shifted; known where all candidates have the same."
        ),
    ] = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    **dialect: Any,  # noqa: ANN401 -- options of the file
) -> None:
    """Choose one candidate, or k, from a table."""
    source = options.rows_of(scores, **dialect)
    relation = options.relation("neighbours", neighbours)
    terms = [[*map(_parse, text.split(options.PLUS))] for text in objective]
    kind = checked_dominance(dominance, combine if len(terms) > 1 else None, of="combine")
    table = _Table(source, terms, combine, kind, relation)
    if mechanism is None:
        mechanism = mechanism_for(combine if len(terms) > 1 else None, kind, rounds=k == 1)
    given = {"direction": direction} if direction is not None and mechanism == "shifted" else {}
    how = by_name({"name": mechanism, **given}, epsilon)
    stated = {
        "objective": objective,
        "combine": combine if len(objective) > 1 else None,
        "dominance": kind if kind != "standard" else None,
        "label": label,
    }
    asked = {name: one for name, one in stated.items() if one is not None}
    budget = options.open_ledger(ledger, source=source, note=note, analyst=analyst, asked=asked)
    # Of scores of 0: candidates, bounds and facts are public and stay the same.
    rows = table.rows(label)
    public = table.objective(lambda _: np.zeros(rows))
    how = _with_facts(how, public)
    query = Selection(mechanism=how, k=k, neighbours=relation)
    error = {"error": _error(how, k, public, table)}
    if dry_run:
        output.print_plan(query.plan, budget, as_json=as_json, more={**asked, **error})
        return
    with options.working("choosing"):
        whole = table.objective(table.scores, table.labels(label))
        release = query.release(whole, budget=budget)
    output.print_release(
        release, budget, source=source, as_json=as_json, more=error, asked=asked
    )


@dataclass(frozen=True)
class _Term:
    """A term of an ``--objective``, in its parts."""

    column: str
    bound: str
    weight: float
    local: str | None
    highest: float | None
    monotone: bool


def _parse(text: str) -> _Term:
    """Return the parts of ``FORM``."""
    found = _OBJECTIVE.fullmatch(text)
    numbers = [] if found is None else [one for one in found.group("weight", "highest") if one]
    if found is None or found["bound"] is None or not all(map(_is_number, numbers)):
        raise ParameterError(f"`objective` {text} must be {FORM}, as cost:-1:global=5")
    return _Term(
        column=found["column"],
        bound=found["bound"],
        weight=float(found["weight"] or 1),
        local=found["local"],
        highest=None if found["highest"] is None else float(found["highest"]),
        monotone=found["monotone"] is not None,
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class _Table:
    """A file of candidates, and the objectives that it holds."""

    path: str | tables.Source
    terms: Sequence[Sequence[_Term]]
    combine: str
    dominance: Dominance
    relation: Neighbours

    @property
    def unit(self) -> str:
        """The unit of the scores."""
        if len(self.terms) > 1:
            return f"units of {self.combine}"
        return f"units of {options.PLUS.join(term.column for term in self.terms[0])}"

    def objective(
        self, column: Callable[[str], ArrayLike], labels: Sequence[object] | None = None
    ) -> Objective:
        """Return the combined objective.

        Args:
            column: Returns a private column by its name, or zeros in its place.
            labels: Labels of the candidates.
        """
        parts, weights = [], []
        for terms in self.terms:
            each = [self._part(term, column, labels) for term in terms]
            factors = [term.weight for term in terms]
            alone = len(terms) == 1
            parts.append(each[0] if alone else weighted_sum(each, factors))
            weights.append(factors[0] if alone else 1.0)
        if len(parts) == 1:
            return weighted_sum(parts, weights)
        return combined(self.combine, parts, weights, dominance=self.dominance)

    def _part(
        self,
        term: _Term,
        column: Callable[[str], ArrayLike],
        labels: Sequence[object] | None,
    ) -> Objective:
        return Objective(
            column(term.column),
            self._sensitivity(term, column),
            labels,
            monotone=term.monotone,
            highest=term.highest,
        )

    def scores(self, name: str) -> list[float]:
        """Return a column of numbers, integers with all their digits."""
        tables.check_columns(self.path, numeric=[name])
        column = tables.read_columns(self.path, numeric=[], plain=[name])[name]
        if column.dtype.is_integer():
            return [nan if one is None else one for one in column.to_list()]
        numbers: list[float] = tables.numeric_column(self.path, name).tolist()
        if column.dtype.is_numeric():
            return numbers
        fields = zip(column.to_list(), numbers, strict=True)
        return [int(text) if _INTEGER.fullmatch(str(text)) else one for text, one in fields]

    def labels(self, name: str | None) -> list[object] | None:
        """Return the public column that is released."""
        if name is None:
            return None
        return list(tables.read_columns(self.path, numeric=[], plain=[name])[name])

    def rows(self, label: str | None) -> int:
        """Return the number of candidates, which is public."""
        numeric = [term.column for terms in self.terms for term in terms]
        return tables.count_records(
            self.path, numeric=numeric, plain=[] if label is None else [label]
        )

    def _sensitivity(self, term: _Term, column: Callable[[str], ArrayLike]) -> Sensitivity:
        """Return the local sensitivity where the table has one, else the global one."""
        bound = (
            float(term.bound)
            if _is_number(term.bound)
            else tables.numeric_column(self.path, term.bound)
        )
        if term.local is None:
            return GlobalSensitivity(bound, self.relation)
        names = self._local_columns(term.local)
        values = [np.asarray(column(name), dtype=np.float64) for name in names]
        return ElementSensitivity(values.__getitem__, bound, len(names), self.relation)

    def _local_columns(self, prefix: str) -> list[str]:
        names = tables.open_table(self.path).collect_schema().names()
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


def _error(mechanism: Mechanism, k: int, public: Objective, table: _Table) -> ErrorBound:
    """Return how far one drawn candidate can be from the best."""
    front = len(table.terms) > 1 and table.combine == "pareto" and table.dominance != "weak"
    return mechanism.single_round(checked_k(k, public)).error_bound(
        candidates=len(public),
        bound=public.sensitivity.bound,
        unit=table.unit,
        # Some candidate is on the front of every table, where the score is 0 unless equal
        # candidates dominate each other.
        attained=0.0 if front else None,
        monotone=public.monotone,
    )
