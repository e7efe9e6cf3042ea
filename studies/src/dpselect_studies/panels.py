"""Figures of line plots in panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import polars as pl

from dpselect_studies.study import mean_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from dpselect_studies.study import Printed

COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""The palette of Okabe and Ito, for readers with any colour vision."""
MARKERS = "osD^vPX*<>hp"
RING: dict[str, Any] = {
    "marker": "o", "linestyle": "none", "markersize": 10, "markerfacecolor": "none"
}  # fmt: skip
"""How a printed value is drawn."""


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
        papers: The papers' names of lines, which stand beside ours.
        marks: Printed values, with the columns of the frame: drawn as rings.
    """

    x: str
    y: str
    line: str
    panel: str
    x_label: str
    y_label: str
    log: str
    papers: Mapping[str, str]
    marks: pl.DataFrame


TITLE = 34
"""Letters of a title in a line: more overlap with those of the panel beside."""


def panels(frame: pl.DataFrame, **what: Unpack[Lines]) -> Figure:
    """Draw one panel of lines for each value of a column, three in a row at most."""
    from matplotlib.figure import Figure

    groups = frame.partition_by(what["panel"], maintain_order=True)
    columns = min(3, len(groups))
    rows = -(-len(groups) // columns)
    names = frame[what["line"]].unique(maintain_order=True).to_list()
    legend = 0.3 + 0.2 * -(-(len(names) + 1) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.4 * rows + legend), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, group in zip(grid.flat, groups, strict=False):
        _draw(axes, group, names, what)
        axes.set_title(fill(str(group[what["panel"]][0]), TITLE), fontsize="medium")
    for axes in list(grid.flat)[len(groups) :]:
        axes.set_axis_off()
    figure.supxlabel(what["x_label"], fontsize="medium")
    figure.supylabel(what["y_label"], fontsize="medium")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    if not what.get("marks", pl.DataFrame()).is_empty():
        handles += _ring(grid.flat[0])
        labels.append("printed, in the colour of its line")
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize="small")
    return figure


def _ring(axes: Axes) -> Sequence[Line2D]:
    """Return a ring for the legend, drawn nowhere."""
    return axes.plot([], [], **RING, color=COLOURS[0])


def marked(printed: Sequence[Printed], column: str) -> pl.DataFrame:
    """Return printed values of a column as a frame, one row each with its place."""
    rows = [{**one.where, column: one.value} for one in printed if one.column == column]
    return pl.DataFrame(rows, infer_schema_length=None)


def _draw(axes: Axes, group: pl.DataFrame, names: list[str], what: Lines) -> None:
    papers, marks = what.get("papers", {}), what.get("marks", pl.DataFrame())
    for position, name in enumerate(names):
        part = group.filter(pl.col(what["line"]) == name).sort(what["x"])
        colour = COLOURS[position % len(COLOURS)]
        # The first is drawn wide and below: another line may cover it.
        width: dict[str, Any] = (
            {"linewidth": 4, "alpha": 0.35} if position == 0 < len(names) - 1 else {}
        )
        axes.plot(
            part[what["x"]].to_numpy(),
            part[what["y"]].to_numpy(),
            color=colour,
            marker=MARKERS[position % len(MARKERS)],
            linestyle="-" if position < len(COLOURS) else "--",
            markersize=4,
            label=f"{name} ({papers[name]})" if name in papers else name,
            **width,
        )
        if not marks.is_empty():
            here = {what["line"]: name, what["panel"]: group[what["panel"]][0]}
            rings = marks.filter(**here)
            axes.plot(rings[what["x"]], rings[what["y"]], **RING, color=colour)
    log = what.get("log", "")
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")


def beside_printed(frame: pl.DataFrame, printed: Sequence[Printed]) -> Figure:
    """Draw our numbers against the printed ones, on a line where they agree."""
    from matplotlib.figure import Figure

    pairs = [
        (number.value, mean_of(frame, number.where, number.column), number)
        for number in printed
        if not frame.filter(**number.where).is_empty()
    ]
    figure = Figure(figsize=(5, 4.4), layout="constrained")
    axes = figure.subplots()
    for agrees, colour, label in (
        (True, COLOURS[1], "agrees"),
        (False, COLOURS[2], "does not"),
    ):
        shown = [(x, y) for x, y, number in pairs if number.agrees(y, number.digit) is agrees]
        if shown:
            axes.plot(*zip(*shown, strict=True), "o", color=colour, label=label)
    ends = [value for x, y, _ in pairs for value in (x, y)]
    axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color=COLOURS[0], linewidth=0.8)
    axes.set_xlabel("printed")
    axes.set_ylabel("ours")
    axes.legend(fontsize="small")
    return figure
