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
HEAD = "text-align:right;padding:.1em .8em"
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
        cells = [_row(head, "th"), *(_row(row, "td") for row in every[:MOST_ROWS])]
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


def _row(cells: Sequence[object], tag: str) -> str:
    shown = "".join(f'<{tag} style="{HEAD}">{escape(_text(one))}</{tag}>' for one in cells)
    return f"<tr>{shown}</tr>"


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
