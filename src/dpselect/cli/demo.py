"""``dpselect demo``: a percentile of measurements that come with scikit-learn."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpselect._optional import needed
from dpselect.cli import options, output

if TYPE_CHECKING:
    from rich.table import Table

    from dpselect.mechanisms import Mechanism
    from dpselect.objective import Objective
    from dpselect.typing import Values

P = 90.0
UPPER = 5000.0
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
FOR_VALUES = ("noisy-max", "exponential", "permute-and-flip")
FOR_RECORDS = ("exponential", "permute-and-flip", "local-dampening", "shifted", "pairwise")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    plot: Annotated[Path, typer.Option("--plot", help="Where the picture goes.")] = Path(
        "dpselect-demo.png"
    ),
    as_json: options.Json = False,
) -> None:
    """Choose a percentile of 569 real tumour areas by five mechanisms and compare them."""
    with output.working("importing scikit-learn and choosing"):
        values = _tumour_areas()
        from dpselect import accuracy
        from dpselect.mechanisms import by_name
        from dpselect.percentiles import percentile

        by_value = _values_chosen(values, epsilon=1.0)
        by_record = _records_chosen(values, epsilon=8.0)
        table = accuracy.compare(
            percentile(values, p=P, upper=UPPER),
            [by_name(name, 1.0) for name in FOR_RECORDS],
            EPSILONS,
        )
        output.save(table.plot()[0], plot)
    if as_json:
        output.print_json(
            {
                "values": by_value,
                "records": by_record,
                "expected_errors": [asdict(row) for row in table.rows],
                "picture": str(plot),
            }
        )
        return
    out = output.console()
    out.print(
        f"Areas of 569 tumours, 0 to {UPPER:g} square pixels (public data that ship with "
        f"scikit-learn).\nTheir {P:g}th percentile is {_truth(values):g}; every choice below "
        "is an exact private release."
    )
    out.print(
        _table(by_value, "Which of 501 public values is near it? epsilon = 1, add/remove")
    )
    out.print(_table(by_record, "Which record holds it? epsilon = 8, one area replaced"))
    out.print(
        "A record's own area can be replaced at will, so naming a record costs far more than "
        "naming a value.\nFor the records, at other epsilons:"
    )
    out.print(output.comparison_table(table, "square pixels"))
    out.print(f"The same as a picture: {plot}. Next: dpselect percentile --help")


def _tumour_areas() -> Values:
    needed("sklearn", extra="standard")
    from sklearn.datasets import load_breast_cancer

    cells = load_breast_cancer()
    areas: Values = cells.data[:, list(cells.feature_names).index("worst area")]
    return areas


def _truth(values: Values) -> float:
    from dpselect.percentiles import rank_of

    return float(sorted(values)[rank_of(P, values.size) - 1])


def _values_chosen(values: Values, epsilon: float) -> list[dict[str, object]]:
    import numpy as np

    from dpselect.mechanisms import by_name
    from dpselect.neighbours import Neighbours
    from dpselect.percentiles import percentile_rank

    candidates = np.linspace(0, UPPER, 501)
    objective = percentile_rank(
        values, p=P, candidates=candidates, neighbours=Neighbours.ADD_REMOVE
    )
    errors = np.abs(candidates - _truth(values))
    return [
        _chosen(by_name(name, epsilon), objective, candidates, errors) for name in FOR_VALUES
    ]


def _records_chosen(values: Values, epsilon: float) -> list[dict[str, object]]:
    from dpselect.mechanisms import by_name
    from dpselect.percentiles import percentile

    objective = percentile(values, p=P, upper=UPPER)
    return [
        _chosen(by_name(name, epsilon), objective, values, -objective.scores)
        for name in FOR_RECORDS
    ]


def _chosen(
    mechanism: Mechanism, objective: Objective, areas: Values, errors: Values
) -> dict[str, object]:
    from dpselect.budget import Budget

    budget = Budget(mechanism.epsilon, neighbours=objective.neighbours)
    drawn = mechanism.release(objective, budget=budget).candidate
    position = list(objective.candidates).index(drawn)
    return {
        "mechanism": mechanism.label,
        "chosen": drawn,
        "area": float(areas[position]),
        "expected_error": float(mechanism.probabilities(objective) @ errors),
    }


def _table(rows: list[dict[str, object]], title: str) -> Table:
    from rich.table import Table

    table = Table("mechanism", "chosen", "area", "expected error", title=title)
    for row in rows:
        table.add_row(
            str(row["mechanism"]),
            f"{row['chosen']:g}",
            f"{row['area']:g}",
            f"{row['expected_error']:.4g}",
        )
    return table
