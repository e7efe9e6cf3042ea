"""``dpselect demo``: five tasks on public data, beside what other libraries would give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING

import typer

from dpselect._optional import needed
from dpselect.cli import options, output, waiting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpselect.cli.demo_tasks import Task

OURS, OTHERS = "C0", "0.7"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(plot: options.Plot = None, as_json: options.Json = False) -> None:
    """Release contacts, a tree, deciles and a map of public data, and audit a wrong claim.

    Each is shown beside what other libraries would give at the same epsilon. Nothing is written
    but the picture of --plot.
    """
    needed("sklearn", extra="standard")
    from dpselect.cli.demo_tasks import tasks

    with waiting.working("five tasks, about 15 seconds"):
        done = tasks()
        if plot is not None:
            output.save(_picture(done).axes[0], plot)
    if as_json:
        kept = ({**asdict(task), "draw": None} for task in done)
        output.print_json({one.pop("name"): one for one in map(dict, kept)})
        return
    out = output.console()
    for number, task in enumerate(done, 1):
        out.print(f"{number}. {task.title}")
        rows = task.results | dict([task.chance] if task.chance else [])
        output.print_facts({f"   {name}": f"{value:.4g}" for name, value in rows.items()})
        out.print(f"   in {task.unit}")
        out.print(fill(task.says, 76, initial_indent="   ", subsequent_indent="   "), "\n")
    out.print(
        "All data are public or made up. "
        + ("The same as a picture: --plot demo.png. " if plot is None else f"Picture: {plot}. ")
        + "Next: dpselect --help"
    )


def _picture(done: list[Task]) -> Figure:
    """Draw the tasks: bars of the results, and what was released where there is a picture."""
    needed("matplotlib", extra="standard")
    from matplotlib.figure import Figure

    panels = [part for task in done for part in _parts(task)]
    figure = Figure(figsize=(16, 9), layout="constrained")
    figure.suptitle(
        "dpselect demo: what one epsilon gives, with dpselect and with other libraries",
        fontsize="x-large",
    )
    for ax, (draw, title) in zip(figure.subplots(2, 3).flat, panels, strict=True):
        draw(ax)
        if title:
            ax.set_title(title, fontsize="medium")
    return figure


def _parts(task: Task) -> list[tuple[Callable[[Axes], None], str]]:
    """Return what draws each panel of a task, and its title; empty for that of the drawing."""
    bars = (partial(_bars, task), task.title)
    if task.draw is None:
        return [bars]
    return [(task.draw, ""), bars] if task.name == "map" else [(task.draw, task.title)]


def _bars(task: Task, ax: Axes) -> None:
    """Draw the results as bars from 0, and a line for a choice without the data."""
    names, values = list(task.results)[::-1], list(task.results.values())[::-1]
    colours = [OTHERS] * (len(names) - 1) + [OURS]
    ax.bar_label(ax.barh(names, values, color=colours), fmt="%.3g", padding=3)
    farthest = 1.2 * max(values)
    if task.chance is not None:
        name, value = task.chance
        beyond = "" if value < farthest else ", beyond the axis"
        ax.axvline(value, color="black", ls=":", label=f"{name}: {value:.3g}{beyond}")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    ax.set(xlim=(0, farthest), xlabel=task.unit)
    ax.tick_params(axis="y", length=0)
