"""What commands print: a table for people, one JSON object for machines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from dpselect.cli import engines
from dpselect.errors import ParameterError
from dpselect.passes import BYTES_A_ROW, Load, load
from dpselect.release import aligned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.budget import Budget
    from dpselect.plan import Plan
    from dpselect.release import Release
    from dpselect.tables import Source


def console() -> Console:
    """Return the console of standard output, as wide as the terminal or ``COLUMNS`` says.

    It prints texts as they are: an answer may look like markup.
    """
    return Console(highlight=False, markup=False, emoji=False)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on one line."""
    print(json.dumps(content, default=str))  # noqa: T201 -- rich would fold it


def print_warning(text: str) -> None:
    """Print a warning on standard error."""
    out = Console(stderr=True, highlight=False, markup=False)
    out.print(f"dpselect: warning: {text}", soft_wrap=True)


def print_facts(facts: Mapping[str, object]) -> None:
    """Print names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    for name, value in facts.items():
        grid.add_row(name, str(value))
    console().print(grid)


def print_release(
    release: Release[Any],
    budget: Budget | None,
    *,
    source: str | Path | Source,
    as_json: bool,
    more: Mapping[str, object] | None = None,
    asked: Mapping[str, object] | None = None,
) -> None:
    """Print a release, for a person to read and sign for or for a machine.

    Args:
        release: The release.
        budget: What it was charged to.
        source: The file that was read.
        as_json: Print one JSON object.
        more: What else of the release should be seen, by name.
        asked: What was asked beside the fields of the query, by name.
    """
    kept = _recorded(budget, release.entry)
    asked = {**(asked or {}), **engines.rows(source)}
    if as_json:
        head = {**(more or {}), "source": str(source), **asked}
        print_json({**head, **release.to_dict(), **kept})
        return
    facts: dict[str, object] = {
        "question": _question(release.plan, source, asked),
        "answer": "\n".join(_answer(release)),
        **(more or {}),
        "mechanism": release.mechanism,
    }
    if release.plan.error is not None:
        facts["error"] = release.plan.error
    if release.plan.counted:
        facts["counted"] = release.plan.counted
    facts["price"] = release.plan.price
    facts["drawn"] = "exactly" if release.exact else "not exactly"
    print_facts({**facts, **_in_words(kept)})


def _answer(release: Release[Any]) -> list[str]:
    """Return one value as it is, and more as the lines of a table."""
    columns = release.table()
    head, *rows = aligned(columns)
    if len(columns) == len(rows) == 1:
        return [rows[0].strip()]
    return [head, *rows] if rows else ["none"]


def _question(plan: Plan, source: str | Path | Source, asked: Mapping[str, object]) -> str:
    """Return what a plan asks of a file, in words."""
    from dpselect.budget import report
    from dpselect.plan import shown

    arguments = {**plan.arguments, **asked}
    return report.question(plan.name, shown(arguments), str(source))


def _recorded(budget: Budget | None, entry: int | None) -> dict[str, object]:
    """Return where a release was recorded and what is left there, by name."""
    if budget is None or entry is None:
        return {"recorded": None, "remaining_budget": None}
    return {"recorded": f"{budget.path}#{entry}", "remaining_budget": budget.remaining}


def _in_words(kept: Mapping[str, object]) -> dict[str, str]:
    """Return the same for a person to read."""
    if kept["recorded"] is None:
        return {"recorded": "not recorded: pass --ledger"}
    path, _, entry = str(kept["recorded"]).rpartition("#")
    left = f"{kept['remaining_budget']:.6g}"
    return {"recorded": f"entry {entry} of {path}", "remaining budget": left}


def print_plan(
    plan: Plan,
    budget: Budget | None,
    *,
    source: str | Path | Source | None = None,
    as_json: bool,
    more: Mapping[str, object] | None = None,
    engine: str = "memory",
) -> None:
    """Print what would be spent and what would remain; refuse what a release would.

    Args:
        plan: The plan.
        budget: What it would be charged to.
        source: The file that would be read.
        as_json: Print one JSON object.
        more: What else is known without the data, by name.
        engine: What would hold the records: what counting takes of it is printed.

    Raises:
        NeighboursError: The budget is kept for another neighbour relation.
        InsufficientBudgetError: The budget does not allow it.
    """
    remaining = None if budget is None else plan.remaining_after(budget)
    counted = None if engine == "memory" else load(plan.passes, spark=engine == "spark")
    if as_json:
        counting = {} if counted is None else {"counting": counted._asdict()}
        known = {
            "dry_run": True,
            **engines.rows(source),
            **plan.to_dict(),
            **(more or {}),
            **counting,
        }
        print_json({**known, "remaining_budget": remaining})
        return
    facts: dict[str, object] = {"would spend": plan.price, "mechanism": plan.mechanism}
    if where := engines.stated(source):
        facts["rows where"] = "\n".join(where)
    if len(plan.spends) > 1:
        facts["in steps"] = "\n".join(
            f"{s.times} x {s.epsilon:.6g}  {s.purpose}" for s in plan.spends
        )
    if plan.error is not None:
        facts["error"] = plan.error
    if plan.counted:
        facts["counted"] = plan.counted
    facts.update({name: _fact(fact) for name, fact in (more or {}).items()})
    if counted is not None:
        facts.update(_counting(counted))
    if plan.public:
        facts["declared public"] = ", ".join(plan.public)
    if remaining is not None:
        facts["would remain"] = f"{remaining:.6g}"
    print_facts(facts)


def _counting(counted: Load) -> dict[str, str]:
    """Return what counting takes, in words."""
    listed = [rows for rows in counted.rows if isinstance(rows, int)]
    said = list(dict.fromkeys(rows for rows in counted.rows if isinstance(rows, str)))
    most = [f"{max(listed):,}"] if listed else []
    memory = f"at most about {counted.driver_bytes / 1e6:,.0f} MB"
    if said:
        memory += f", and {BYTES_A_ROW} bytes for each row whose number the records decide"
    return {
        "passes": f"{counted.passes} over the records",
        "rows out": f"in a pass at most {', or '.join([*most, *said])}",
        "memory here": memory,
    }


def _fact(fact: object) -> str:
    if isinstance(fact, list | tuple):
        return "\n".join(map(str, fact))
    if not isinstance(fact, Mapping):
        return str(fact)
    return "\n".join(f"{name}: {value}" for name, value in fact.items())


def save(axes: Axes, path: Path) -> None:
    """Write the figure of some axes; a folder that is missing is an error of the caller's."""
    figure = axes.get_figure(root=True)
    if figure is None:
        raise ParameterError("the axes to save belong to no figure")
    with writing(path, "a picture such as out.png"):
        figure.savefig(path, dpi=150)


@contextmanager
def writing(path: Path, kind: str) -> Iterator[None]:
    """Raise an error of the caller's if the file of a block cannot be written.

    Args:
        path: The file.
        kind: What it is, with an example.
    """
    try:
        yield
    except (OSError, ValueError):
        raise ParameterError(
            f"cannot write {path}: give {kind} in an existing folder"
        ) from None
