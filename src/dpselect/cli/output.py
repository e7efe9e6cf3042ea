"""What commands print: a table for people, one JSON object for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpselect.comparison import Comparison
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


def print_release(release: Release, chosen: str, remaining: float | None) -> None:
    """Print a release for a person to read and sign for."""
    facts: dict[str, object] = {
        chosen: ", ".join(map(str, release.candidates)),
        "mechanism": release.mechanism,
        "epsilon": f"{release.epsilon:g} ({release.neighbours} neighbours)",
        "drawn": "exactly, through OpenDP" if release.exact else "by simulation",
    }
    if remaining is not None:
        facts["remaining budget"] = f"{remaining:g}"
    print_facts(facts)


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


def save(figure: Figure, path: Path) -> None:
    """Write a figure; a folder that is missing is an error of the caller's."""
    from dpselect.errors import ParameterError

    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError):
        raise ParameterError(
            f"cannot write {path}: give a picture such as out.png in an existing folder"
        ) from None
