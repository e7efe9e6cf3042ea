"""``dpselect top``: release the most common values of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpselect.cli import engines, key_options, options, output
from dpselect.cli.choices import ListsNames
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.plan import Plan

HELP = """Release the k values of a column that most people have.

With --candidates the values are drawn from these public ones. Without, they are drawn from
the most common ones there are, until a draw says to stop: this needs --delta. With --user one
person is protected with all rows, of which --max-per-user different values count; else one
row. With --dry-run it is said how many people a value needs.

[bold]dpselect top visits.parquet --column diagnosis --k 10 --user patient --max-per-user 3 \
--epsilon 1 --delta 1e-6 --neighbours add-remove[/bold]

[bold]dpselect top visits.csv --column ward --k 3 --candidates wards.txt --epsilon 0.5 \
--neighbours add-remove[/bold]

With --above in place of --k all candidates of at least so many noisy people are released.

With --engine spark only counts of the candidates, or the largest ones, leave the cluster.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("top", help=HELP, cls=ListsNames)(top)


def top(
    data: engines.Data,
    column: key_options.Columns,
    epsilon: options.Epsilon,
    neighbours: key_options.Neighbours,
    k: Annotated[
        int | None, typer.Option("--k", help="How many values, of each group.")
    ] = None,
    above: options.Above = None,
    scores: options.Scores = False,
    delta: Annotated[
        float, typer.Option(help="Without --candidates: far below one over the people.")
    ] = 0.0,
    candidates: Annotated[
        str | None,
        typer.Option(help="Public values: a list as a,b,c or a text file of one per line."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(help="Without --candidates: how many of the most common are candidates."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="A column; the top of each of --groups is released.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="The public groups: a list or a text file.")
    ] = None,
    user: options.User = None,
    max_per_user: key_options.MaxPerUser = None,
    counts_share: Annotated[
        float, typer.Option(help="Share of epsilon for noisy counts of the values.")
    ] = 0.0,
    missing_is_key: key_options.MissingIsKey = False,
    mechanism: Annotated[
        str | None,
        typer.Option(help="With --candidates: one of {mechanisms}."),
    ] = None,
    separator: engines.Separator = None,
    engine: engines.Engine = "memory",
    master: engines.Master = None,
    ledger: options.Ledger = None,
    note: options.Note = "",
    analyst: options.Analyst = "",
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    plot: options.Plot = None,
) -> None:
    """Release the most common values."""
    data = engines.separated(data, separator)
    from dpselect.categories import plan_top, release_top

    table = engines.opened(data, engine, master)
    rows: dict[str, Any] = {
        "column": key_options.column_of(column),
        "candidates": key_options.listed("--candidates", candidates, table, column),
        "group": group,
        "groups": key_options.listed("--groups", groups, table, [str(group)]),
        "user": user,
        "max_per_user": max_per_user,
        "missing": key_options.missing(missing_is_key),
    }
    asked: dict[str, Any] = {
        **rows,
        "k": k,
        "above": above,
        "limit": limit,
        "counts_share": counts_share,
        "epsilon": epsilon,
        "delta": delta,
        "neighbours": options.relation("--neighbours", neighbours),
        "mechanism": "noisy-sequence" if scores else mechanism,
    }
    if scores and (candidates is None or mechanism is not None):
        raise ParameterError("--scores is for a release with --candidates and no --mechanism")
    plan = plan_top(**asked)
    if plot is not None and candidates is not None:
        raise ParameterError("--plot shows P(released) of a release without --candidates")
    budget = options.open_ledger(ledger, source=data, note=note, analyst=analyst)
    if dry_run:
        from dpselect.categories.asked import asked_question
        from dpselect.categories.counts import people_in

        people_in(table, asked_question(**_as_tuples(rows)))
        more = {} if candidates is not None else {"a value": _needed(plan)}
        output.print_plan(plan, budget, as_json=as_json, more=more)
    else:
        with output.working("counting and choosing"):
            release = release_top(table, **asked, budget=budget)
        output.print_release(
            release,
            "value" if k == 1 else "values",
            budget,
            source=data,
            as_json=as_json,
            more=key_options.besides(release),
        )
    if plot is not None:
        from dpselect.categories import plot_chances

        people, chances = _chances(plan)
        ax = plot_chances(people, {plan.mechanism: chances})
        ax.set_xlabel(f"people{_more_than(plan)}")
        output.save(ax, plot)


def _as_tuples(rows: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(one) if isinstance(one, list) else one for name, one in rows.items()}


def _needed(plan: Plan) -> dict[str, str]:
    people, chances = _chances(plan)
    return key_options.people_for(chances, people, more_than=_more_than(plan))


def _more_than(plan: Plan) -> str:
    return f" more than the value after the {_integer(plan, 'limit')} candidates"


def _chances(plan: Plan) -> tuple[Any, Any]:
    """Return numbers of people until a value is all but surely ahead of the stop."""
    import numpy as np

    from dpselect.categories import ahead_of_stop

    shown, of_keys = 64, plan.spends[0]
    while True:
        people = np.arange(shown)
        chances = ahead_of_stop(
            people,
            k=_integer(plan, "k"),
            limit=_integer(plan, "limit"),
            max_per_user=_integer(plan, "max_per_user"),
            epsilon=of_keys.epsilon,
            delta=of_keys.delta,
            neighbours=plan.neighbours,
        )
        if chances[-1] > 0.999 or shown > 10**7:
            return people, chances
        shown *= 2


def _integer(plan: Plan, name: str) -> int:
    value = plan.arguments[name]
    return value if isinstance(value, int) else 1
