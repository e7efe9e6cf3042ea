"""``dpselect keys``: release which values of a column there are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dpselect.cli import engines, key_options, options, output, waiting

HELP = """Release which values of a column there are: those that enough people have.

With --user one person is protected with all rows, of which --max-per-user different values
count; else one row. With --dry-run it is said how many people a value needs.

[bold]dpselect keys visits.parquet --column diagnosis --user patient --max-per-user 3 \
--epsilon 1 --delta 1e-6 --neighbours add-remove[/bold]

With --engine spark only values of at least --min-people leave the cluster.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("keys", help=HELP)(keys)


def keys(
    data: engines.Data,
    column: key_options.Columns,
    epsilon: options.Epsilon,
    delta: Annotated[
        float, typer.Option(help="Far below one over the number of people; public.")
    ],
    neighbours: key_options.Neighbours,
    user: options.User = None,
    max_per_user: key_options.MaxPerUser = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="optimal; laplace or gaussian, with noisy counts; weighted or rounds, for "
            "many values a person. If not given, the one that needs the fewest people."
        ),
    ] = None,
    min_people: Annotated[
        int, typer.Option(help="A value of fewer people is never released.")
    ] = 1,
    missing_is_key: key_options.MissingIsKey = False,
    assumed_people: key_options.AssumedPeople = None,
    where: engines.Where = None,
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
    """Release which values there are."""
    data = engines.rows_of(data, separator, where, neighbours)
    from dpselect.categories import key_probabilities, plan_keys, release_keys

    relation = options.relation("--neighbours", neighbours)
    law: dict[str, Any] = {
        "method": method,
        "min_people": min_people,
        "epsilon": epsilon,
        "delta": delta,
        "neighbours": relation,
    }
    rows: dict[str, Any] = {
        "column": key_options.column_of(column),
        "user": user,
        "max_per_user": max_per_user,
        "missing": key_options.missing(missing_is_key),
    }
    plan = plan_keys(**rows, **law, assumed_people=assumed_people)
    law["method"] = plan.arguments["method"]
    chances: key_options.ChancesOf = lambda people: key_probabilities(  # noqa: E731
        people, max_per_user=max_per_user or 1, **law
    )
    budget = options.open_ledger(ledger, source=data, note=note, analyst=analyst)
    table = engines.opened(data, engine, master)
    if dry_run:
        from dpselect.categories.asked import asked_question
        from dpselect.categories.counts import people_in

        people_in(table, asked_question(**rows))
        needed = key_options.people_for(chances)
        output.print_plan(
            plan,
            budget,
            source=data,
            as_json=as_json,
            more={"a value": needed},
            engine=engine,
        )
    else:
        with waiting.working("counting and choosing"):
            release = release_keys(table, **rows, **law, budget=budget)
        output.print_release(
            release,
            "values",
            budget,
            source=data,
            as_json=as_json,
            more=key_options.besides(release),
        )
    if plot is not None:
        from dpselect.categories import plot_chances

        people = key_options.people_shown(chances)
        output.save(plot_chances(people, {plan.mechanism: chances(people)}), plot)
