"""``dpselect compare``: exact errors of all methods for a percentile of public data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from dpselect import validation
from dpselect.cli import engines, options, output
from dpselect.errors import ParameterError

if TYPE_CHECKING:
    from dpselect.accuracy import Comparison, Row
    from dpselect.neighbours import Neighbours
    from dpselect.typing import Values

MOST_VALUES = 10_000

HELP = """Compare all methods by their exact expected errors, to pick one.

The methods are those of 'dpselect percentile' with candidates from --lower to --upper in steps
of --step, and errors are in ranks. The first row is the default method. With --record they are
the mechanisms of 'dpselect record', which releases the record that holds the percentile, and
errors are in units of the column. Everything is computed without noise: use public or synthetic
data that are similar to the private data, and pass --data-is-public.

[bold]dpselect compare synthetic.csv --column days --p 90 --upper 60 --step 1 \
--neighbours add-remove --epsilon 0.1,1,10 --data-is-public --plot errors.png[/bold]
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
    lower: Annotated[float, typer.Option(help="The smallest value of a release.")] = 0.0,
    step: Annotated[
        float | None, typer.Option(help="The distance of two values of a release.")
    ] = None,
    neighbours: Annotated[
        str | None, typer.Option(help='"add-remove" or "substitute", of a record.')
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Releases of the record that holds the percentile.")
    ] = False,
    assumed_records: Annotated[
        int | None, typer.Option(help="How many records there are, about, for the default.")
    ] = None,
    data_is_public: options.DataIsPublic = False,
    plot: options.Plot = None,
    as_json: options.Json = False,
) -> None:
    """Print a table of exact expected errors; write a picture if asked."""
    options.declared_public(data_is_public, "dpselect compare")
    epsilons = options.numbers("epsilon", epsilon)
    from dpselect import tables

    if record and (step is not None or neighbours is not None):
        raise ParameterError("`record` takes no `step` and no `neighbours`: one is replaced")
    if not record and (step is None or neighbours is None):
        raise ParameterError("give `step` and `neighbours`, or `record`")
    with engines.working("comparing"):
        values = tables.numeric_column(data, column)
        if step is None or neighbours is None:
            table = _of_records(values, p, upper, epsilons)
        else:
            ends = (lower, upper, step)
            relation = validation.neighbours(neighbours)
            table = _of_values(values, p, ends, epsilons, relation, assumed_records)
    if plot is not None:
        output.save(table.plot()[0], plot)
    if as_json:
        output.print_json({"rows": [asdict(row) for row in table.rows]})
        return
    output.console().print(_table(table, f"units of {column}" if record else "ranks"))
    if plot is not None:
        output.console().print(f"picture: {plot}")


def _of_records(
    values: Values, p: float, upper: float, epsilons: Sequence[float]
) -> Comparison:
    from dpselect import accuracy
    from dpselect.mechanisms import MECHANISMS, by_name
    from dpselect.percentiles import percentile

    mechanisms = [by_name(name, epsilons[0]) for name in MECHANISMS]
    return accuracy.compare(percentile(values, p=p, upper=upper), mechanisms, epsilons)


def _of_values(
    values: Values,
    p: float,
    ends: tuple[float, float, float],
    epsilons: Sequence[float],
    neighbours: Neighbours,
    assumed_records: int | None,
) -> Comparison:
    import numpy as np

    from dpselect.percentiles import compare_percentiles

    lower, upper, step = ends
    steps = validation.positive("step", step)
    count = validation.at_least("upper", int((upper - lower) / steps), 0, MOST_VALUES)
    return compare_percentiles(
        values,
        p=p,
        candidates=lower + steps * np.arange(count + 1),
        assumed_records=assumed_records,
        epsilons=epsilons,
        neighbours=neighbours,
    )


def _cell(row: Row) -> str:
    return f"{output.in_digits(row.expected_error)}  {row.best:.3f}"


def _table(comparison: Comparison, unit: str) -> Table:
    """Return a table of a comparison, one row per mechanism, one column per epsilon."""
    epsilons = list(dict.fromkeys(row.epsilon for row in comparison.rows))
    table = Table(title=f"expected error ({unit}) and P(best), by epsilon")
    table.add_column("mechanism")
    for epsilon in epsilons:
        table.add_column(f"{epsilon:g}", justify="right")
    for mechanism in dict.fromkeys(row.mechanism for row in comparison.rows):
        cells = {
            row.epsilon: _cell(row) for row in comparison.rows if row.mechanism == mechanism
        }
        style = "bold" if mechanism == "default" else None
        row = [cells.get(epsilon, "") for epsilon in epsilons]
        table.add_row(mechanism, *row, style=style)
    if comparison.uniform is not None:
        cell = _cell(comparison.uniform)
        table.add_row(comparison.uniform.mechanism, *(cell for _ in epsilons))
    return table
