"""Output of commands: a table for people, one JSON object for machines.

Rich, which takes a tenth of a dry run to import, is imported where it is used.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import realpath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dpselect import writing as written
from dpselect._optional import needed
from dpselect.cli import options
from dpselect.cli.help import flag
from dpselect.errors import InsufficientBudgetError, ParameterError
from dpselect.neighbours import RECORDS
from dpselect.passes import stated_rows
from dpselect.plan import remaining_after

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.console import Console

    from dpselect.budget import Budget
    from dpselect.plan import Plan
    from dpselect.release import Release
    from dpselect.tables import Source


def console() -> Console:
    """Return a console that prints texts as they are: an answer may look like markup.

    What a terminal would obey is spelled out.
    """
    from rich.console import Console
    from rich.text import Text

    class Plain(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(written.visible(text), **options)

    return Plain(highlight=False, markup=False, emoji=False)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on one line."""
    print(json.dumps(content, default=str))  # noqa: T201 -- rich would fold it


def print_note(name: str, text: str) -> None:
    """Print what is noted, such as a warning, on standard error."""
    if text:
        sys.stderr.write(f"dpselect: {name}: {written.visible(text)}\n")


def print_facts(facts: Mapping[str, object], *, whole: str = "") -> None:
    """Print names and values in two columns; a word that is wider is all there, as a hash.

    Args:
        facts: The names and values.
        whole: The one of which no line is folded, since it is copied.
    """
    shown = {name: str(one) for name, one in facts.items() if one not in (None, "")}
    aside = max(map(len, shown), default=0) + 2
    dim = "\x1b[2m{}\x1b[0m" if sys.stdout.isatty() and os.environ.get("TERM") else "{}"
    room = max(shutil.get_terminal_size().columns - aside, 1)
    fold = textwrap.TextWrapper(room, break_on_hyphens=False)
    for name, value in shown.items():
        below = written.visible(value).split("\n")
        if name != whole:
            below = [part for line in below for part in fold.wrap(line) or [""]]
        head = dim.format(written.visible(name).ljust(aside))
        print(head + f"\n{' ' * aside}".join(below))  # noqa: T201 -- rich takes longer


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
    asked = {**(asked or {}), **stated_rows(source)}
    if as_json:
        print_note("text file", _read(release.read))
        head = {**(more or {}), "source": str(source), **asked}
        print_json({**head, **release.to_dict(), **_recorded(budget, release)})
        return
    known = {"rows where": "\n".join(options.stated(source)), **(more or {})}
    last = {"written to": known.pop("written to", None), "text file": _read(release.read)}
    last["ledger"] = _in_words(budget, release)
    print_answer(release, privacy(release.plan, budget), known, last)


def print_answer(
    release: Release[Any],
    paid: str,
    more: Mapping[str, object] = MappingProxyType({}),
    last: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Print an answer for a person: its table, and what is said of it.

    Args:
        release: The release.
        paid: Its price, and what it hides.
        more: What is said before the price, by name.
        last: What is said after it.
    """
    facts = {name: _fact(fact) for name, fact in release.facts.items()}
    warnings = filter(None, (facts.pop("warning", None), release.plan.warning))
    columns = release.shown()
    rows = list(zip(*columns.values(), strict=True))
    if len(columns) == len(rows) == 1 or not rows:
        facts = {"answer": written.as_text(rows[0][0]) if rows else "none"} | facts
    else:
        print_table(columns)
        print()  # noqa: T201 -- before what is said of the table
    print_facts(
        {
            **facts,
            **more,
            "warning": "\n".join(warnings),
            "privacy": paid,
            "draw": None if release.exact else "not exact: a floating-point sampler drew it",
            **last,
        }
    )


FEW = 10
"""Values of a lone column that stand one below another; more stand beside each other."""


def print_table(columns: Mapping[str, Sequence[Any]]) -> None:
    """Print columns as a table; what is wider than the terminal in parts, one below another.

    Each part begins with the columns that tell the rows apart. A lone column of many values is
    printed as a terminal lists files.
    """
    names, width = list(columns), shutil.get_terminal_size().columns
    number = len(columns[names[0]])
    if len(names) == 1 and number > FEW:
        from rich.columns import Columns
        from rich.text import Text

        cells = [Text(written.as_text(one)) for one in columns[names[0]]]
        console().print(names[0])
        console().print(Columns(cells, padding=(0, 2), column_first=True))
        return

    def tell_apart(number_of: int) -> bool:
        return len({*zip(*(columns[one] for one in names[:number_of]), strict=True)}) == number

    apart = next(filter(tell_apart, range(1, len(names))), 0)
    part, parts = names[:apart], []
    for name in names[apart:]:
        if len(part) > apart and len(_lines(columns, [*part, name])[0]) > width:
            parts.append(part)
            part = names[:apart]
        part = [*part, name]
    every = ("\n".join(_lines(columns, one)) for one in (*parts, part))
    print("\n\n".join(every))  # noqa: T201 -- rich would fold what is wider all the same


def _lines(columns: Mapping[str, Sequence[Any]], names: Sequence[str]) -> list[str]:
    lines = written.lines({one: list(columns[one]) for one in names})
    return [written.visible(one) for one in lines]


def price(plan: Plan, budget: Budget | None) -> str:
    """Return what a plan takes of a budget, in words."""
    from dpselect.budget import words

    return f"{words.amounts(plan)}{_for_rows(plan, budget)}"


def privacy(plan: Plan, budget: Budget | None) -> str:
    """Return the price of a plan and what it hides, in words."""
    from dpselect.budget import words

    of, persons = plan.user or RECORDS[plan.neighbours], plan.user is not None
    hidden = words.hidden_by(plan.neighbours, of, persons=persons)
    return f"{price(plan, budget)}: hides {hidden} ({plan.neighbours})"


WRITTEN = ("out", "plot", "save", "file")
"""Options that name a file to write."""

LISTS = ("candidates", "groups", "nodes", "periods")
"""Options that name a file to read, or say what it would hold."""


def check_outputs(given: Mapping[str, Any], *read: str | Path | Source | None) -> None:
    """Raise if a file cannot be written, or is one that is read, before anything is spent.

    Args:
        given: The options of a command by name. Those of ``WRITTEN`` name what is written;
            other paths and those of ``LISTS`` name what is read.
        read: What else is read.

    Raises:
        ParameterError: One of them is.
    """
    from dpselect.tables import Source
    from dpselect.tables.lists import is_file
    from dpselect.tables.source import identity

    options = [one for name, one in given.items() if name not in WRITTEN]
    listed = [given.get(name) for name in LISTS]
    listed = [one for held in listed for one in (held if isinstance(held, list) else [held])]
    texts = [one for one in listed if isinstance(one, str) and one]
    files = [*(one for one in options if isinstance(one, Path)), *map(Path, texts)]
    files += [file for one in read if one for file in Source.of(one).files()]
    taken = {identity(file) for file in files if is_file(file)}
    for name in WRITTEN:
        outs = given.get(name)
        for out in outs if isinstance(outs, list) else [outs]:
            if not isinstance(out, Path):
                continue
            where = Path(realpath(out))
            with writing(out, "a file"):
                is_new = not where.exists()
                where.open("ab").close()
                if is_new:
                    where.unlink()
            if identity(out) in taken:
                raise ParameterError(f"`{name}` would replace a file that is read, {out}")
            taken.add(identity(out))
    if isinstance(plot := given.get("plot"), Path):
        _check_picture(plot)


def _check_picture(plot: Path) -> None:
    """Raise unless a picture of that ending can be drawn."""
    os.environ["MPLBACKEND"] = "Agg"  # it is written, and needs no screen
    needed("matplotlib", extra="standard")
    from matplotlib.backend_bases import FigureCanvasBase

    if plot.suffix[1:].lower() not in FigureCanvasBase.get_supported_filetypes():
        raise ParameterError(
            "`plot` must end with .png, .svg, .pdf or what else matplotlib writes"
        )


def _recorded(budget: Budget | None, release: Release[Any]) -> dict[str, object]:
    """Return where a release was recorded and what is left there, by name."""
    if budget is None or release.entry is None:
        return {"recorded": None, "remaining_budget": None}
    where = f"{budget.path}#{release.entry}"
    return {"recorded": where, "remaining_budget": budget.remaining}


def _in_words(budget: Budget | None, release: Release[Any]) -> str:
    """Return the same for a person to read."""
    if budget is None or release.entry is None:
        return "none: --ledger FILE would keep an account of what is spent"
    path = Path(budget.path or "")
    path = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    left = f"{budget.remaining:.6g} is left"
    if release.repeated:
        return (
            f"{path}: {left}; entry {release.entry} answered, {release.answered}: nothing was "
            "spent. --again draws anew; --source-version NAME tells another state of the data "
            "apart"
        )
    if release.query is None or not release.query.is_repeatable:
        left += "; asked again, it is drawn anew and paid again"
    return f"entry {release.entry} of {path}: {left}"


def _read(said: str) -> str:
    """Return how fields of a text file are read, by the options that say otherwise."""
    return str(_fact(said)).replace("text file: ", "")


def print_plan(
    plan: Plan,
    budget: Budget | None,
    *,
    read: str = "",
    source: str | Path | Source | None = None,
    as_json: bool,
    more: Mapping[str, object] | None = None,
    engine: str = "memory",
) -> None:
    """Print what would be spent and what would remain; refuse what a release would.

    Args:
        plan: The plan.
        budget: What it would be charged to.
        read: How fields of a text file would be read.
        source: The file that would be read.
        as_json: Print one JSON object.
        more: What else is known without the data, by name.
        engine: What would hold the records: what counting takes of it is printed.

    Raises:
        NeighboursError: The budget is kept for another neighbour relation or unit.
        InsufficientBudgetError: The budget does not allow it.
    """
    kept = _after(plan, budget)
    counting = {} if engine == "memory" else {"queries": plan.passes}
    if as_json:
        print_note("text file", _read(read))
        known = {
            "dry_run": True,
            **stated_rows(source),
            **plan.to_dict(),
            **(more or {}),
            **({"counting": counting} if counting else {}),
        }
        print_json({**known, **kept})
        return
    spent, left = privacy(plan, budget), None
    if budget is not None:
        left = f"{kept['remaining_budget']:.6g}" + ", enough for one more" * kept["fits_again"]
    if kept["answered_by"] is not None:
        spent = f"nothing: entry {kept['answered_by']} answers it; {spent} with --again"
    spends = {**counting, "would spend": spent, "would remain": left}
    print_facts(
        {
            "dry run": "no row is read, nothing is spent",
            "rows where": "\n".join(options.stated(source)),
            **plan_facts(plan, more, spends),
            "text file": _read(read),
        }
    )


UNBOUNDED = "no bound holds on all data: try it on public data of the same kind first"
"""Error of a question of which nothing is predicted."""


def plan_facts(
    plan: Plan, more: Mapping[str, object] | None, spends: Mapping[str, object]
) -> dict[str, object]:
    """Return what is said of a plan before its release, by name.

    Args:
        plan: The plan.
        more: What a query knows without the data, by name; None of what is no query.
        spends: What it would cost, by name.
    """
    return {
        "error": plan.error or (UNBOUNDED if more == {} else None),
        **{name: _fact(fact) for name, fact in (more or {}).items()},
        "counted": plan.counted,
        "warning": plan.warning,
        **spends,
        "public": ", ".join(plan.public),
    }


def _after(plan: Plan, budget: Budget | None) -> dict[str, Any]:
    """Return what a dry run says of a budget: what remains, and what fits after that.

    Raises:
        NeighboursError: The budget is kept for another neighbour relation or unit.
        InsufficientBudgetError: The budget does not allow it.
    """
    if budget is None:
        return dict.fromkeys(("remaining_budget", "answered_by", "fits_again"))
    entry = plan.answered(budget)
    spent, fits_again = [] if entry else [plan], True
    remaining = remaining_after(spent, budget)
    try:
        remaining_after([*spent, plan], budget)
    except InsufficientBudgetError:
        fits_again = False
    return {
        "remaining_budget": remaining,
        "answered_by": None if entry is None else entry.sequence,
        "fits_again": fits_again,
    }


def _for_rows(plan: Plan, budget: Budget | None) -> str:
    """Return what a release by rows is charged in a budget of persons, if it is more."""
    if budget is None or (steps := budget.totals.steps(plan.neighbours, plan.user)) == 1:
        return ""
    return f", and is charged for {steps} rows of one {budget.totals.unit}"


def _fact(fact: object) -> str:
    """Return a fact for people who type options, not names of arguments."""
    if isinstance(fact, list | tuple):
        return "\n".join(map(str, fact))
    if isinstance(fact, Mapping):
        return "\n".join(written.stated(fact))
    return re.sub(r"`(\w+)`", lambda name: flag(name[1]), str(fact))


def save(axes: Axes, path: Path) -> None:
    """Write the figure of some axes; a folder that is missing is an error of the caller's."""
    figure: Any = axes.get_figure(root=True)
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
