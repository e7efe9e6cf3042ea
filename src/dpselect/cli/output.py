"""What commands print: a table for people, one JSON object for machines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from dpselect.cli import engines
from dpselect.passes import BYTES_A_ROW, Load, load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.accuracy import Comparison
    from dpselect.budget import Budget
    from dpselect.plan import Plan
    from dpselect.release import Release


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
    release: Release,
    chosen: str,
    budget: Budget | None,
    *,
    source: str | Path,
    as_json: bool,
    more: Mapping[str, object] | None = None,
) -> None:
    """Print a release, for a person to read and sign for or for a machine.

    Args:
        release: The release.
        chosen: What its answers are.
        budget: What it was charged to.
        source: The file that was read.
        as_json: Print one JSON object.
        more: What else of the release a person should see, by name.
    """
    kept = recorded(budget, release.entry)
    if as_json:
        print_json({"source": str(source), **rows(source), **release.to_dict(), **kept})
        return
    facts: dict[str, object] = {
        "asked": asked(release.plan, source),
        chosen: ", ".join(map(_answer, release.answer)),
        **(more or {}),
        "mechanism": release.mechanism,
        "price": price(release.plan),
        "drawn": "exactly" if release.exact else "not exactly",
    }
    print_facts({**facts, **in_words(kept)})


def _answer(candidate: object) -> str:
    return f"{candidate:.15g}" if isinstance(candidate, float) else str(candidate)


def asked(plan: Plan, source: str | Path) -> str:
    """Return what a plan asks of a file, in words."""
    from dpselect.budget import wording
    from dpselect.plan import shown

    arguments = {**plan.arguments, **rows(source)}
    return wording.question(plan.function, shown(arguments), str(source))


def rows(source: str | Path | None) -> dict[str, list[str]]:
    """Return which rows of a file are asked for, by name; nothing if all are."""
    where = [] if source is None else list(engines.stated(source))
    return {"where": where} if where else {}


def recorded(budget: Budget | None, entry: int | None) -> dict[str, object]:
    """Return where a release was recorded and what is left there, by name."""
    if budget is None or entry is None:
        return {"recorded": None, "remaining_budget": None}
    return {"recorded": f"{budget.path}#{entry}", "remaining_budget": budget.remaining}


def in_words(kept: Mapping[str, object]) -> dict[str, str]:
    """Return the same for a person to read."""
    if kept["recorded"] is None:
        return {"recorded": "nothing: give --ledger, or nobody can add up what was spent"}
    path, _, entry = str(kept["recorded"]).rpartition("#")
    left = f"{kept['remaining_budget']:.6g}"
    return {"recorded": f"entry {entry} of {path}", "remaining budget": left}


def print_plan(
    plan: Plan,
    budget: Budget | None,
    *,
    source: str | Path | None = None,
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
        known = {"dry_run": True, **rows(source), **plan.to_dict(), **(more or {}), **counting}
        print_json({**known, "remaining_budget": remaining})
        return
    facts: dict[str, object] = {"would spend": price(plan), "mechanism": plan.mechanism}
    if asked_rows := rows(source):
        facts["rows where"] = "\n".join(asked_rows["where"])
    if len(plan.spends) > 1:
        facts["in steps"] = "\n".join(
            f"{s.times} x {s.epsilon:.6g}  {s.purpose}" for s in plan.spends
        )
    if plan.error is not None:
        facts["error"] = plan.error
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
    if not isinstance(fact, Mapping):
        return str(fact)
    return "\n".join(f"{name}: {value}" for name, value in fact.items())


def price(plan: Plan) -> str:
    """Return epsilon, delta and the neighbour relation of a plan."""
    delta = f", delta {plan.delta:.3g}" if plan.delta else ""
    return f"epsilon {plan.epsilon:g}{delta} ({plan.neighbours} neighbours)"


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
    if comparison.uniform is not None:
        one = comparison.uniform
        cell = f"{one.expected_error:.4g}  {one.best:.3f}"
        table.add_row(one.mechanism, *(cell for _ in epsilons))
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
