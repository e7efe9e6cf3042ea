"""``dpselect select``: choose from a table of candidates with scores and sensitivities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from dpselect.cli import engines, options, output, waiting
from dpselect.cli.choices import ListsNames
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpselect.mechanisms import Mechanism
    from dpselect.neighbours import Neighbours
    from dpselect.objective import Objective
    from dpselect.plan import Plan
    from dpselect.sensitivity import Sensitivity
    from dpselect.typing import Values

FORM = "COLUMN[:WEIGHT]:global=BOUND[:local=PREFIX][:highest=SCORE][:monotone]"

HELP = f"""Choose from a table with one row per candidate; the rows are public, scores private.

An objective is {FORM}. WEIGHT -1 makes smaller
better. BOUND is what one individual can change of a score: a number, or a column with one
for each candidate. With local=PREFIX the columns PREFIX0, PREFIX1, ... hold the sensitivity at
distance 0, 1, ...; beyond the last the bound is taken. SCORE is one that no candidate exceeds,
whatever the data.

[bold]dpselect select offers.csv --objective votes:global=1:monotone --label-column offer \
--neighbours add-remove --epsilon 1[/bold]

[bold]dpselect select offers.csv --objective cost:-2:global=5 --objective quality:global=1 \
--combine margin --neighbours substitute --epsilon 1[/bold]
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("select", help=HELP, cls=ListsNames)(select)


def select(
    scores: Annotated[
        str, typer.Argument(help="A .parquet, .csv or .tsv file, a candidate a row.")
    ],
    objective: Annotated[
        list[str], typer.Option(help="COLUMN:global=BOUND, as above; may be repeated.")
    ],
    neighbours: Annotated[
        str, typer.Option(help="add-remove, substitute, edge or swap: what one individual is.")
    ],
    epsilon: options.Epsilon,
    k: Annotated[int, typer.Option("--k", help="How many candidates.")] = 1,
    combine: Annotated[
        str, typer.Option(help="For several objectives: {combinations}.")
    ] = "pareto",
    label_column: Annotated[
        str | None, typer.Option(help="A public column to release from; else the row number.")
    ] = None,
    mechanism: Annotated[str, typer.Option(help="{mechanisms}.")] = "permute-and-flip",
    direction: Annotated[
        str | None,
        typer.Option(
            help="non-decreasing or non-increasing: whether larger scores have larger "
            "sensitivities. Only for shifted; known where all candidates have the same."
        ),
    ] = None,
    separator: engines.Separator = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Choose one candidate, or k, from a table."""
    scores = engines.separated(scores, separator)
    relation = options.relation("--neighbours", neighbours)
    terms = [_parse(text) for text in objective]
    how = _mechanism(mechanism, epsilon, direction)
    budget = options.open_ledger(ledger, source=scores, note=note, analyst=analyst)
    table = _Table(scores, terms, combine, relation)
    how, plan = _plan(table, how, k, label_column)
    if dry_run:
        output.print_plan(plan, budget, as_json=as_json)
        return
    with waiting.working("choosing"):
        whole = table.objective(table.column, table.labels(label_column))
        release = how.release(whole, k, budget, plan=plan)
    output.print_release(
        release, "candidates" if k > 1 else "candidate", budget, source=scores, as_json=as_json
    )


@dataclass(frozen=True)
class _Term:
    """One ``--objective``, as text and in its parts."""

    text: str
    column: str
    bound: str
    weight: float = 1.0
    local: str | None = None
    highest: float | None = None
    monotone: bool = False


def _parse(text: str) -> _Term:
    """Return the parts of ``FORM``."""
    column, *parts = text.split(":")
    term = _Term(text, column, "")
    for part in parts:
        key, given, value = part.partition("=")
        if given and value and key == "global":
            term = replace(term, bound=value)
        elif given and value and key == "local":
            term = replace(term, local=value)
        elif given and key == "highest":
            term = replace(term, highest=_number(value, text))
        elif part == "monotone":
            term = replace(term, monotone=True)
        else:
            term = replace(term, weight=_number(part, text))
    if not column or not term.bound:
        raise _malformed(text)
    return term


def _number(part: str, text: str) -> float:
    if not _is_number(part):
        raise _malformed(text)
    return float(part)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _malformed(text: str) -> ParameterError:
    return ParameterError(f"--objective {text} must be {FORM}, as cost:-1:global=5")


def _mechanism(name: str, epsilon: float, direction: str | None) -> Mechanism:
    from dpselect import _validate
    from dpselect.mechanisms import ShiftedLocalDampening, by_name

    mechanism = by_name(name, epsilon)
    if direction is None or not isinstance(mechanism, ShiftedLocalDampening):
        return mechanism
    try:
        return replace(mechanism, direction=_validate.direction(direction))
    except ParameterError as error:
        raise ParameterError(f"--{error}") from None


@dataclass(frozen=True)
class _Table:
    """A file of candidates, and the objectives that it holds."""

    path: str
    terms: Sequence[_Term]
    combine: str
    relation: Neighbours

    def objective(
        self, column: Callable[[str], Values], labels: Sequence[object] | None = None
    ) -> Objective:
        """Return the combined objective.

        Args:
            column: Returns a private column by its name, or zeros in its place.
            labels: Of the candidates.
        """
        from dpselect import combine
        from dpselect.objective import Objective

        parts = [
            Objective(
                column(term.column),
                self._sensitivity(term, column),
                labels,
                monotone=term.monotone,
                highest=term.highest,
            )
            for term in self.terms
        ]
        weights = [term.weight for term in self.terms]
        if len(parts) == 1:
            return combine.weighted_sum(parts, weights)
        return combine.by_name(self.combine, parts, weights)

    def column(self, name: str) -> Values:
        """Return a column of numbers."""
        from dpselect import tables

        return tables.numeric_column(self.path, name)

    def labels(self, name: str | None) -> list[object] | None:
        """Return the public column that is released."""
        from dpselect import tables

        if name is None:
            return None
        return list(tables.read_columns(self.path, numeric=[], plain=[name])[name])

    def rows(self, label: str | None) -> int:
        """Return the number of candidates, which is public."""
        from dpselect import tables

        numeric = [term.column for term in self.terms]
        return tables.count_records(
            self.path, numeric=numeric, plain=[] if label is None else [label]
        )

    def _sensitivity(self, term: _Term, column: Callable[[str], Values]) -> Sensitivity:
        """Return the local sensitivity where the table has one, else the global one."""
        from dpselect.sensitivity import ElementSensitivity, GlobalSensitivity

        bound = float(term.bound) if _is_number(term.bound) else self.column(term.bound)
        if term.local is None:
            return GlobalSensitivity(bound, self.relation)
        names = self._local_columns(term.local)
        values = [column(name) for name in names]
        return ElementSensitivity(values.__getitem__, bound, len(names), self.relation)

    def _local_columns(self, prefix: str) -> list[str]:
        from dpselect import tables

        names = tables.open_table(self.path).collect_schema().names()
        columns: list[str] = []
        while f"{prefix}{len(columns)}" in names:
            columns.append(f"{prefix}{len(columns)}")
        if not columns:
            raise ParameterError(f"local={prefix} needs a column {prefix}0")
        return columns


def _plan(
    table: _Table, mechanism: Mechanism, k: int, label: str | None
) -> tuple[Mechanism, Plan]:
    """Plan with scores of 0: candidates, bounds and facts are public and stay the same.

    Returns:
        The mechanism, with the facts of the objective, and the plan.
    """
    import numpy as np

    from dpselect import _validate
    from dpselect.accuracy import error_bound

    rows, terms = table.rows(label), table.terms
    if _validate.at_least("k", k, 1) > rows:
        raise ParameterError(f"k must be at most the number of candidates, {rows}, not {k}")
    public = table.objective(lambda _: np.zeros(rows))
    mechanism = _with_facts(mechanism, public)
    several = len(terms) > 1
    error = error_bound(
        replace(mechanism, epsilon=mechanism.epsilon / k),
        candidates=rows,
        bound=public.sensitivity.bound,
        unit=f"units of {table.combine if several else terms[0].column}",
        # Some candidate is on the front of every table.
        attained=0.0 if several and table.combine == "pareto" else None,
    )
    return mechanism, mechanism.plan(
        k,
        neighbours=table.relation,
        function="select",
        arguments={
            "objectives": [term.text for term in terms],
            "combine": table.combine if several else None,
            "label_column": label,
            "k": k,
        },
        public=("the candidates", "every bound and weight"),
        error=error,
    )


def _with_facts(mechanism: Mechanism, objective: Objective) -> Mechanism:
    try:
        return mechanism.for_objective(objective)
    except ParameterError:
        needs = {"shifted": "--direction", "anchored": "highest=SCORE in every --objective"}
        raise ParameterError(
            f"--mechanism {mechanism.name} needs {needs.get(mechanism.name, 'more')}"
        ) from None
