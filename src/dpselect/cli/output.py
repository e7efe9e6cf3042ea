"""What commands print: a table for people, one JSON object for machines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.budget import Budget
    from dpselect.comparison import Comparison
    from dpselect.mechanisms import Mechanism
    from dpselect.neighbours import Neighbours
    from dpselect.release import Release


def console() -> Console:
    """Return the console of standard output; wide where it is not a terminal."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=120)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on one line."""
    print(json.dumps(content, default=str))  # noqa: T201 -- rich would fold it


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    for name, value in facts.items():
        grid.add_row(name, str(value))
    console().print(grid)


def print_release(
    release: Release, chosen: str, budget: Budget | None, *, as_json: bool
) -> None:
    """Print a release, for a person to read and sign for or for a machine."""
    remaining = None if budget is None else budget.remaining
    if as_json:
        print_json({**release.to_dict(), "remaining_budget": remaining})
        return
    facts = {
        chosen: ", ".join(map(str, release.candidates)),
        "mechanism": release.mechanism,
        "epsilon": f"{release.epsilon:g} ({release.neighbours} neighbours)",
        "drawn": "exactly, through OpenDP",
    }
    if remaining is not None:
        facts["remaining budget"] = f"{remaining:g}"
    print_facts(facts)


@dataclass(frozen=True)
class Plan:
    """What a release would do.

    Attributes:
        mechanism: The mechanism with its public parameters.
        neighbours: The relation that its epsilon is stated for.
        error: What the error exceeds in one case of 20 at most, whatever the data are.
        unit: What the error is measured in.
    """

    mechanism: Mechanism
    neighbours: Neighbours
    error: float
    unit: str


def print_plan(plan: Plan, budget: Budget | None, *, as_json: bool) -> None:
    """Print what would be spent and what would remain; refuse what a release would."""
    epsilon = plan.mechanism.epsilon
    remaining = None
    if budget is not None:
        from dpselect.budget.totals import same_relation

        same_relation(budget.neighbours, plan.neighbours)
        remaining = budget.remaining_after(epsilon)
    if as_json:
        print_json(
            {
                "dry_run": True,
                "mechanism": repr(plan.mechanism),
                "epsilon": epsilon,
                "neighbours": str(plan.neighbours),
                "error_bound_95": plan.error if isfinite(plan.error) else None,
                "error_unit": plan.unit,
                "remaining_budget": remaining,
            }
        )
        return
    said = f"at most {plan.error:.4g} {plan.unit}" if isfinite(plan.error) else "no bound"
    facts = {
        "would spend": f"epsilon {epsilon:g} ({plan.neighbours} neighbours)",
        "mechanism": repr(plan.mechanism),
        "error": f"{said}, 19 times in 20, on any data",
    }
    if remaining is not None:
        facts["would remain"] = f"{remaining:g}"
    print_facts(facts)


@contextmanager
def working(doing: str) -> Iterator[None]:
    """Show on a terminal that something is going on."""
    with Console(stderr=True).status(f"{doing} ..."):
        yield


def comparison_table(comparison: Comparison, unit: str) -> Table:
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
    return table


def save(axes: Axes, path: Path) -> None:
    """Write the figure of some axes; a folder that is missing is an error of the caller's."""
    from dpselect.errors import ParameterError

    figure = axes.get_figure(root=True)
    if figure is None:
        raise ParameterError("the axes to save belong to no figure")
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError):
        raise ParameterError(
            f"cannot write {path}: give a picture such as out.png in an existing folder"
        ) from None
