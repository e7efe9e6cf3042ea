"""``dpselect select``: choose from a table of candidates with scores and sensitivities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpselect.cli import options, output
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpselect.mechanisms import Mechanism
    from dpselect.neighbours import Neighbours
    from dpselect.objective import Objective
    from dpselect.sensitivity import Sensitivity
    from dpselect.typing import Direction

HELP = """Choose from a table with one row per candidate; the rows are public, scores private.

An objective is COLUMN[:WEIGHT]:global=BOUND[:local=PREFIX][:monotone]. WEIGHT -1 makes smaller
better. BOUND is what one individual can change of a score: a number, or a column with one
for each candidate. With local=PREFIX the columns PREFIX0, PREFIX1, ... hold the sensitivity at
distance 0, 1, ...; beyond the last the bound is taken.

[bold]dpselect select offers.csv --objective votes:global=1:monotone --label-column offer \
--neighbours add-remove --epsilon 1[/bold]

[bold]dpselect select offers.csv --objective cost:-1:global=5 --objective quality:global=1 \
--combine margin --neighbours substitute --epsilon 1[/bold]
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("select", help=HELP)(select)


def select(
    scores: Annotated[Path, typer.Argument(help="A .parquet or .csv file, a candidate a row.")],
    objective: Annotated[
        list[str], typer.Option(help="COLUMN[:WEIGHT]:global=BOUND[:local=PREFIX][:monotone]")
    ],
    neighbours: Annotated[
        str, typer.Option(help="add-remove, substitute, edge or swap: what one individual is.")
    ],
    epsilon: options.Epsilon,
    k: Annotated[int, typer.Option("--k", help="How many candidates.")] = 1,
    combine: Annotated[
        str, typer.Option(help="pareto, weighted-sum or margin, for several objectives.")
    ] = "pareto",
    label_column: Annotated[
        str | None, typer.Option(help="A public column to release from; else the row number.")
    ] = None,
    mechanism: Annotated[
        str,
        typer.Option(
            help="exponential, permute-and-flip, noisy-max, local-dampening, shifted, "
            "pairwise or generalized."
        ),
    ] = "permute-and-flip",
    direction: Annotated[
        str | None,
        typer.Option(help="non-decreasing or non-increasing, with --mechanism shifted."),
    ] = None,
    ledger: options.Ledger = None,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
) -> None:
    """Choose one candidate, or k, from a table."""
    relation = options.relation("--neighbours", neighbours)
    terms = [_parse(text) for text in objective]
    how = _mechanism(mechanism, epsilon, direction)
    budget = options.open_ledger(ledger)
    if dry_run:
        plan = _plan(scores, terms, combine, relation, how, k)
        output.print_plan(plan, budget, as_json=as_json)
        return
    with output.working("choosing"):
        whole = _combined(scores, terms, combine, relation, label_column)
        release = how.release(whole, k, budget)
    output.print_release(
        release, "candidates" if k > 1 else "candidate", budget, as_json=as_json
    )


@dataclass(frozen=True)
class _Term:
    """One ``--objective``."""

    column: str
    bound: str
    weight: float = 1.0
    local: str | None = None
    monotone: bool = False


def _parse(text: str) -> _Term:
    """Return the parts of ``COLUMN[:WEIGHT]:global=BOUND[:local=PREFIX][:monotone]``."""
    column, *parts = text.split(":")
    term = _Term(column, "")
    for part in parts:
        key, given, value = part.partition("=")
        if given and value and key == "global":
            term = replace(term, bound=value)
        elif given and value and key == "local":
            term = replace(term, local=value)
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
    return ParameterError(
        f"--objective {text} must be COLUMN[:WEIGHT]:global=BOUND[:local=PREFIX][:monotone], "
        "as cost:-1:global=5"
    )


def _mechanism(name: str, epsilon: float, direction: str | None) -> Mechanism:
    from dpselect.mechanisms import by_name

    towards: Direction | None = None
    if direction is not None:
        if direction not in {"non-decreasing", "non-increasing"}:
            raise ParameterError("--direction must be non-decreasing or non-increasing")
        towards = "non-decreasing" if direction == "non-decreasing" else "non-increasing"
    if name == "shifted" and towards is None:
        raise ParameterError("--mechanism shifted needs --direction")
    return by_name(name, epsilon, direction=towards)


def _combined(
    scores: Path,
    terms: Sequence[_Term],
    combine: str,
    relation: Neighbours,
    label_column: str | None,
) -> Objective:
    """Read the table and return its one objective."""
    from dpselect import tables
    from dpselect.objective import Objective

    labels = None
    if label_column is not None:
        table = tables.read_columns(scores, numeric=[], plain=[label_column])
        labels = table[label_column].to_list()
    parts = [
        Objective(
            tables.numeric_column(scores, term.column),
            _sensitivity(scores, term, relation),
            labels,
            monotone=term.monotone,
        )
        for term in terms
    ]
    return _one(parts, terms, combine)


def _plan(
    scores: Path,
    terms: Sequence[_Term],
    combine: str,
    relation: Neighbours,
    mechanism: Mechanism,
    k: int,
) -> output.Plan:
    """Plan with scores of 0: candidates and bounds are public and stay the same."""
    import numpy as np

    from dpselect import _validate, tables
    from dpselect.accuracy import error_bound
    from dpselect.objective import Objective

    _validate.at_least("k", k, 1)
    rows = tables.count_records(scores, numeric=[term.column for term in terms])
    parts = [
        Objective(np.zeros(rows), _bound(scores, term, relation), monotone=term.monotone)
        for term in terms
    ]
    error = error_bound(
        replace(mechanism, epsilon=mechanism.epsilon / k),
        candidates=rows,
        bound=_one(parts, terms, combine).sensitivity.bound,
    )
    unit = f"units of {terms[0].column}" if len(terms) == 1 else f"units of {combine}"
    return output.Plan(mechanism, relation, error, unit)


def _one(parts: Sequence[Objective], terms: Sequence[_Term], combine: str) -> Objective:
    """Return one objective of several, each with its weight."""
    from dpselect import combine as combining

    weights = [term.weight for term in terms]
    if len(parts) == 1 or combine == "weighted-sum":
        return combining.weighted_sum(parts, weights)
    if combine not in {"pareto", "margin"}:
        raise ParameterError("--combine must be pareto, weighted-sum or margin")
    weighted = [
        combining.weighted_sum([part], [weight])
        for part, weight in zip(parts, weights, strict=True)
    ]
    return combining.pareto(weighted) if combine == "pareto" else combining.margin(weighted)


def _bound(scores: Path, term: _Term, relation: Neighbours) -> Sensitivity:
    """Return the global sensitivity: a number, or a public column with one a candidate."""
    from dpselect import tables
    from dpselect.sensitivity import GlobalSensitivity

    if _is_number(term.bound):
        return GlobalSensitivity(float(term.bound), relation)
    return GlobalSensitivity(tables.numeric_column(scores, term.bound), relation)


def _sensitivity(scores: Path, term: _Term, relation: Neighbours) -> Sensitivity:
    """Return the local sensitivity of the table where it has one, else the global one."""
    from dpselect import tables
    from dpselect.sensitivity import ElementSensitivity

    whole = _bound(scores, term, relation)
    if term.local is None:
        return whole
    names = tables.open_table(scores).collect_schema().names()
    columns: list[str] = []
    while f"{term.local}{len(columns)}" in names:
        columns.append(f"{term.local}{len(columns)}")
    if not columns:
        raise ParameterError(f"local={term.local} needs a column {term.local}0")
    table = [tables.numeric_column(scores, column) for column in columns]
    return ElementSensitivity(table.__getitem__, whole.bounds, len(table), relation)
