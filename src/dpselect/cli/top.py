"""``dpselect top``: release the most common values of a column."""

from __future__ import annotations

from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpselect.cli import engines, key_options, options, output, waiting
from dpselect.cli.choices import ListsNames
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.categories.grouped_design import GroupedDesign
    from dpselect.categories.top_design import TopDesign

LEGEND = 26
"""Characters of a line of a legend."""

HELP = """Release the k values of a column that most people have.

With --candidates the values are drawn from these public ones. Without, they are drawn from
the most common ones there are, until a draw says to stop: this needs --delta. With --user one
person is protected with all rows, of which --max-per-user different values count; else one
row. With --dry-run it is said how many people a value needs.

[bold]dpselect top visits.parquet --column diagnosis --k 10 --user patient --max-per-user 3 \
--epsilon 1 --delta 1e-6 --neighbours add-remove[/bold]

[bold]dpselect top visits.csv --column ward --k 3 --candidates wards.txt --epsilon 0.5 \
--neighbours add-remove[/bold]

With --group the top of each group is released: of public ones (--groups), or of those that
are released first.

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
        float,
        typer.Option(
            help="Without --candidates, or without --groups of a --group: far below one over "
            "the people."
        ),
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
        str | None, typer.Option(help="A column; the top of each group is released.")
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="The public groups: a list or a text file; without them, the groups are "
            "released first."
        ),
    ] = None,
    groups_share: Annotated[
        float | None,
        typer.Option(help="Share of epsilon for a release of the groups; 0.2 if not given."),
    ] = None,
    user: options.User = None,
    max_per_user: key_options.MaxPerUser = None,
    counts_share: Annotated[
        float, typer.Option(help="Share of epsilon for noisy counts of the values.")
    ] = 0.0,
    missing_is_key: key_options.MissingIsKey = False,
    assumed_people: key_options.AssumedPeople = None,
    mechanism: Annotated[
        str | None,
        typer.Option(help="With --candidates: one of {mechanisms}."),
    ] = None,
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
    """Release the most common values."""
    data = engines.rows_of(data, separator, where, neighbours)
    from dpselect.categories import release_top
    from dpselect.categories.asked import check_people
    from dpselect.categories.grouped_design import design_release

    if groups is not None and group is None:
        raise ParameterError("--groups are values of a column: name it with --group")
    table = engines.opened(data, engine, master)
    asked: dict[str, Any] = {
        "column": key_options.column_of(column),
        "candidates": key_options.listed("--candidates", candidates, table, column),
        "group": group,
        "groups": key_options.listed("--groups", groups, table, [group or ""]),
        "user": user,
        "max_per_user": max_per_user,
        "missing": key_options.missing(missing_is_key),
        "groups_share": groups_share,
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
    check_people(delta, assumed_people)
    design = design_release(**asked)
    plan, laws = design.plan, _laws(design)
    if plot is not None and not laws:
        raise ParameterError(
            "--plot shows P(released) of what is not public: a release without --candidates, "
            "or without --groups"
        )
    budget = options.open_ledger(ledger, source=data, note=note, analyst=analyst)
    if dry_run:
        from dpselect.categories.counts import people_in

        people_in(table, design.question)
        more = {
            name: key_options.people_for(law, more_than=more_than)
            for name, (more_than, law) in laws.items()
        }
        output.print_plan(
            plan,
            budget,
            source=data,
            as_json=as_json,
            more=more,
            engine=engine,
        )
    else:
        with waiting.working("counting and choosing"):
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
        output.save(_plot(laws, plan.mechanism), plot)


def _laws(design: TopDesign | GroupedDesign) -> dict[str, tuple[str, key_options.ChancesOf]]:
    """Return the probabilities of what is not public, by the number of people: of what."""
    from dpselect.categories import ahead_of_stop
    from dpselect.categories.grouped_design import GroupedDesign

    laws: dict[str, tuple[str, key_options.ChancesOf]] = {}
    if isinstance(design, GroupedDesign):
        laws["a group"] = "", design.groups.law.probabilities
        design = design.widest
    if design.candidates is None:
        of_keys, k = design.plan.spends[0], design.k
        more_than = f" more than the value after the {design.limit} candidates"
        law = partial(
            ahead_of_stop,
            k=k,
            limit=design.limit,
            max_per_user=design.question.max_per_user,
            epsilon=of_keys.epsilon,
            delta=of_keys.delta,
            neighbours=design.plan.neighbours,
        )
        laws["a value"] = more_than, law
    return laws


def _plot(laws: dict[str, tuple[str, key_options.ChancesOf]], mechanism: str) -> Axes:
    from dpselect.categories import plot_chances

    people = key_options.people_shown(*(law for _, law in laws.values()))
    lines = {
        fill(f"{name}, by people{more}", LEGEND): law(people)
        for name, (more, law) in laws.items()
    }
    if len(lines) > 1:
        return plot_chances(people, lines)
    [(more, law)] = laws.values()
    ax = plot_chances(people, {mechanism: law(people)})
    ax.set_xlabel(f"people{more}")
    return ax
