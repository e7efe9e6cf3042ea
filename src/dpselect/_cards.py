"""Cards: results as HTML, which notebooks show.

They hold what ``print`` shows and no more, and no style but widths and lines, so that they fit
light and dark notebooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

FRAME = "border:1px solid #8886;border-radius:6px;padding:.6em .9em;display:inline-block"
NAME = (
    "text-align:left;padding:.1em 1.2em .1em 0;opacity:.7;font-weight:normal;vertical-align:top"
)
VALUE = "text-align:left;padding:.1em 0;white-space:pre-wrap"
CELL = "padding:.1em .8em;text-align:"
MOST_ROWS = 20


def card(
    title: str,
    facts: Mapping[str, object],
    *,
    head: Sequence[str] = (),
    rows: Iterable[Sequence[object]] = (),
) -> str:
    """Return a card: a title, a table, and names with values.

    Args:
        title: In one line.
        facts: By name; None and empty ones are left out.
        head: Names of the table's columns.
        rows: Its rows; of more than 20 the first.
    """
    every = list(rows)
    parts = [f"<b>{escape(title)}</b>"]
    if head:
        columns = zip(*every, strict=True) if every else [()] * len(head)
        sides = ["right" if holds_numbers(one) else "left" for one in columns]
        shown = [_row(row, "td", sides) for row in every[:MOST_ROWS]]
        cells = [_row(head, "th", sides), *shown]
        parts.append(f'<table style="margin:.5em 0">{"".join(cells)}</table>')
    if len(every) > MOST_ROWS:
        parts.append(f"<div>... {len(every)} rows in all</div>")
    stated = "".join(
        f'<tr><th style="{NAME}">{escape(name)}</th>'
        f'<td style="{VALUE}">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
        if value not in (None, "", ())
    )
    parts.append(f'<table style="margin:.3em 0 0">{stated}</table>')
    return f'<div style="{FRAME}">{"".join(parts)}</div>'


def _row(cells: Sequence[object], tag: str, sides: Sequence[str]) -> str:
    shown = "".join(
        f'<{tag} style="{CELL}{side}">{escape(_text(one))}</{tag}>'
        for one, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{shown}</tr>"


def holds_numbers(column: Iterable[object]) -> bool:
    """Return whether a column of a table holds numbers, or blanks."""
    return all(
        one == "" or (isinstance(one, int | float) and not isinstance(one, bool))
        for one in column
    )


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
