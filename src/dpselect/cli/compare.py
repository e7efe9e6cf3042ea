"""``dpselect compare``: exact errors of all mechanisms on a percentile of public data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from dpselect.cli import engines, options, output

if TYPE_CHECKING:
    from dpselect.accuracy import Comparison

HELP = """Compare all mechanisms by their exact expected errors, to pick one.

What is printed is computed without noise: use public or synthetic data that look like the
data to be protected, and say --data-is-public.

[bold]dpselect compare synthetic.csv --column days --p 90 --upper 60 --epsilon 0.1,1,10 \
--data-is-public --plot errors.png[/bold]
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare", help=HELP)(compare)


def compare(
    data: Annotated[Path, typer.Argument(help="A .parquet or .csv file, public.")],
    column: Annotated[str, typer.Option(help="The numeric column.")],
    p: Annotated[float, typer.Option("--p", help="The percentile, above 0, up to 100.")],
    upper: Annotated[float, typer.Option(help="The largest value that can occur.")],
    epsilon: options.Epsilons,
    data_is_public: options.DataIsPublic = False,
    plot: options.Plot = None,
    as_json: options.Json = False,
) -> None:
    """Print a table of exact expected errors; write a picture if asked."""
    options.declared_public(data_is_public, "dpselect compare")
    epsilons = options.numbers("epsilon", epsilon)
    from dpselect import accuracy, tables
    from dpselect.mechanisms import MECHANISMS, by_name
    from dpselect.percentiles import percentile

    with engines.working("comparing"):
        objective = percentile(tables.numeric_column(data, column), p=p, upper=upper)
        mechanisms = [by_name(name, epsilons[0]) for name in MECHANISMS]
        table = accuracy.compare(objective, mechanisms, epsilons)
    if plot is not None:
        output.save(table.plot()[0], plot)
    if as_json:
        output.print_json({"rows": [asdict(row) for row in table.rows]})
        return
    output.console().print(_table(table, f"units of {column}"))
    if plot is not None:
        output.console().print(f"picture: {plot}")


def _table(comparison: Comparison, unit: str) -> Table:
    """Return a table of a comparison, one row per mechanism, one column per epsilon."""
    epsilons = list(dict.fromkeys(row.epsilon for row in comparison.rows))
    table = Table(title=f"expected error ({unit}) and P(best), by epsilon")
    table.add_column("mechanism")
    for epsilon in epsilons:
        table.add_column(f"{epsilon:g}", justify="right")
    for mechanism in dict.fromkeys(row.mechanism for row in comparison.rows):
        cells = {
            row.epsilon: f"{row.expected_error:.4g}  {row.best:.3f}"
            for row in comparison.rows
            if row.mechanism == mechanism
        }
        table.add_row(mechanism, *(cells[epsilon] for epsilon in epsilons))
    if comparison.uniform is not None:
        one = comparison.uniform
        cell = f"{one.expected_error:.4g}  {one.best:.3f}"
        table.add_row(one.mechanism, *(cell for _ in epsilons))
    return table
