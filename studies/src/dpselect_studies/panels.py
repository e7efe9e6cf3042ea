"""Figures of line plots in panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack

import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpselect_studies.study import Printed

COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""The palette of Okabe and Ito, for readers with any colour vision."""
MARKERS = "osD^vPX*<>hp"


class Lines(TypedDict, total=False):
    """Columns and labels of a figure.

    Attributes:
        x: The column of the horizontal axis.
        y: The column of the vertical axis.
        line: The column whose values are the lines.
        panel: The column whose values are the panels.
        x_label: Label of the horizontal axis, with its unit.
        y_label: Label of the vertical axis, with its unit.
        log: Which axes are logarithmic: ``"x"``, ``"y"`` or ``"xy"``.
    """

    x: str
    y: str
    line: str
    panel: str
    x_label: str
    y_label: str
    log: str


def panels(frame: pl.DataFrame, **what: Unpack[Lines]) -> Figure:
    """Draw one panel of lines for each value of a column, three in a row at most."""
    from matplotlib.figure import Figure

    groups = frame.partition_by(what["panel"], maintain_order=True)
    columns = min(3, len(groups))
    rows = -(-len(groups) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.4 * rows + 0.8), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    names = frame[what["line"]].unique(maintain_order=True).to_list()
    for axes, group in zip(grid.flat, groups, strict=False):
        _draw(axes, group, names, what)
        axes.set_title(str(group[what["panel"]][0]), fontsize="medium")
    for axes in list(grid.flat)[len(groups) :]:
        axes.set_axis_off()
    figure.supxlabel(what["x_label"], fontsize="medium")
    figure.supylabel(what["y_label"], fontsize="medium")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize="small")
    return figure


def _draw(axes: Axes, group: pl.DataFrame, names: list[str], what: Lines) -> None:
    for position, name in enumerate(names):
        part = group.filter(pl.col(what["line"]) == name).sort(what["x"])
        axes.plot(
            part[what["x"]].to_numpy(),
            part[what["y"]].to_numpy(),
            color=COLOURS[position % len(COLOURS)],
            marker=MARKERS[position % len(MARKERS)],
            linestyle="-" if position < len(COLOURS) else "--",
            markersize=4,
            label=name,
        )
    log = what.get("log", "")
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")


def beside_printed(frame: pl.DataFrame, printed: Sequence[Printed]) -> Figure:
    """Draw our numbers against the printed ones, on a line where they agree."""
    from matplotlib.figure import Figure

    pairs = [
        (number.value, float(found[number.column].to_numpy().mean()), number)
        for number in printed
        if not (found := frame.filter(**number.where)).is_empty()
    ]
    figure = Figure(figsize=(5, 4.4), layout="constrained")
    axes = figure.subplots()
    for agrees, colour, label in (
        (True, COLOURS[1], "agrees"),
        (False, COLOURS[2], "does not"),
    ):
        shown = [(x, y) for x, y, number in pairs if number.agrees(y) is agrees]
        if shown:
            axes.plot(*zip(*shown, strict=True), "o", color=colour, label=label)
    ends = [value for x, y, _ in pairs for value in (x, y)]
    axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color=COLOURS[0], linewidth=0.8)
    axes.set_xlabel("printed")
    axes.set_ylabel("ours")
    axes.legend(fontsize="small")
    return figure
