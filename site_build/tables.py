"""Tables of stored results, made where a page has a mark that describes one.

A mark is a comment of Markdown::

    <!-- table hubs.csv [k=10] | rows graph | columns epsilon | values hubs; degree -->

Of ``FILE [a=b; c=d / e] + FILE`` the rows of all files are taken, of each those that the
brackets name.
``rows`` and ``columns`` name the columns that a cell belongs to, and ``values`` what stands in
it: the median over all other columns, after the mean over repeated runs. Several values are
beside each other in a cell; without ``columns`` each has a column. Rows without any value are
left out. ``names a=b; c=d`` selects and orders the last of ``rows`` and says what its values
are called. ``relative a`` divides all by the row of that name, in each cell of the data;
``digits 3`` or ``significant 3`` rounds.

``<!-- range ... | row a -->`` is the least and the largest number of one row of such a table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).parents[1]
FOLDERS = (
    ROOT / "benchmarks" / "results",
    ROOT / "packages" / "applications" / "benchmarks" / "results",
    ROOT / "studies" / "results",
)
MARK = re.compile(r"<!-- (table|range) (.+?) -->", re.DOTALL)
FILE = re.compile(r"([\w./-]+)(?: \[(.+?)\])?")
METHOD = "method"
SAME = {"mechanism": METHOD, "way": METHOD}
"""Columns that are called differently in different files."""
REPEATED = "run"


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table, as a mark describes it; see the module."""

    files: str
    rows: tuple[str, ...]
    columns: str | None
    values: tuple[str, ...]
    names: dict[str, str]
    relative: str | None
    digits: int
    significant: bool

    @classmethod
    def read(cls, mark: str) -> Table:
        """Return the table of the text of a mark."""
        files, *clauses = (one.strip() for one in " ".join(mark.split()).split(" | "))
        said = dict(clause.split(" ", 1) for clause in clauses)
        names = (one.split("=", 1) for one in said.get("names", "").split("; ") if one)
        return cls(
            files=files,
            rows=tuple(said["rows"].split(", ")),
            columns=said.get("columns"),
            values=tuple(said["values"].split("; ")),
            names={shown[0]: shown[-1] for shown in names},
            relative=said.get("relative"),
            digits=int(said.get("significant", said.get("digits", "2"))),
            significant="significant" in said,
        )

    def numbers(self) -> pl.DataFrame:
        """Return the long form: the columns of ``rows`` and ``columns``, and each value."""
        frame = pl.concat(map(_read, FILE.findall(self.files)), how="diagonal_relaxed")
        cell = [*self.rows, *([self.columns] if self.columns else [])]
        if self.relative:
            data = [one for one in frame.columns if one not in {METHOD, *self.values}]
            [value] = self.values
            ours = frame.filter(pl.col(METHOD) == self.relative)
            ours = ours.select(*data, ours=value)
            frame = frame.join(ours, on=data).with_columns(pl.col(value) / pl.col("ours"))
        if REPEATED in frame.columns:
            kept = [one for one in frame.columns if one not in {REPEATED, *self.values}]
            frame = frame.group_by(kept, maintain_order=True).agg(pl.col(self.values).mean())
        return frame.group_by(cell, maintain_order=True).agg(pl.col(self.values).median())

    def lines(self) -> list[list[str]]:
        """Return the head and the rows."""
        found = self.numbers()
        keys = found.select(self.rows).unique(maintain_order=True).rows()
        if self.names:
            shown = {name: place for place, name in enumerate(self.names)}
            keys = [key for key in keys if str(key[-1]) in shown]
            groups = {key[:-1]: place for place, key in reversed([*enumerate(keys)])}
            keys.sort(key=lambda key: (groups[key[:-1]], shown[str(key[-1])]))
        if self.columns is None:
            heads = [*self.values]
            cells = {row[: len(self.rows)]: row[len(self.rows) :] for row in found.rows()}
            body = [[self._text((one,)) for one in cells[key]] for key in keys]
        else:
            across = found[self.columns].unique().sort().to_list()
            heads = [self._head(one) for one in across]
            cells = {
                (*row[: len(self.rows)], row[len(self.rows)]): row[len(self.rows) + 1 :]
                for row in found.rows()
            }
            body = [[self._text(cells.get((*key, one))) for one in across] for key in keys]
        first = [
            [*map(_words, key[:-1]), self.names.get(str(key[-1]), _words(key[-1]))]
            for key in keys
        ]
        head = [*("" if one == METHOD else one for one in self.rows), *heads]
        rows = zip(first, body, strict=True)
        return [[*map(_words, head)], *([*one, *rest] for one, rest in rows if any(rest))]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        head, *body = self.lines()
        numbers = len(head) - len(self.rows)
        rule = [*["---"] * len(self.rows), *["---:"] * numbers]
        return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body))

    def range_of(self, row: str) -> str:
        """Return the ends of what one row has."""
        found = self.numbers().filter(pl.col(self.rows[-1]) == row)[self.values[0]]
        return f"{self._number(found.min())} to {self._number(found.max())}"

    def _text(self, values: tuple[Any, ...] | None) -> str:
        shown = [one for one in values or () if one is not None]
        return ", ".join(one if isinstance(one, str) else self._number(one) for one in shown)

    def _number(self, value: Any) -> str:  # noqa: ANN401 -- what a column holds
        if not self.significant:
            return f"{value:,.{self.digits}f}"
        short = float(f"{value:.{self.digits}g}")
        return f"{short:,.0f}" if abs(short) >= 10**self.digits else f"{short:g}"

    def _head(self, value: object) -> str:
        name = "ε" if self.columns == "epsilon" else self.columns
        return f"{name} = {value:g}" if isinstance(value, int | float) else str(value)


def _words(value: object) -> str:
    """Return the name of a column or of a row as a reader would write it."""
    return f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")


def with_tables(page: str) -> str:
    """Return a page with a table, or two numbers, in place of each mark."""
    return MARK.sub(_made, page)


def _made(found: re.Match[str]) -> str:
    kind, said = found.groups()
    if kind == "table":
        return Table.read(said).markdown()
    table, _, row = " ".join(said.split()).rpartition(" | row ")
    return Table.read(table).range_of(row)


@cache
def _read(named: tuple[str, str]) -> pl.DataFrame:
    name, wanted = named
    [path] = (folder / name for folder in FOLDERS if (folder / name).exists())
    frame = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    frame = frame.rename({old: new for old, new in SAME.items() if old in frame.columns})
    for clause in wanted.split("; ") if wanted else ():
        column, _, values = clause.partition("=")
        kept = [
            pl.col(column).cast(pl.String) == one
            if frame[column].dtype == pl.String
            else pl.col(column) == float(one)
            for one in values.split(" / ")
        ]
        frame = frame.filter(pl.any_horizontal(kept))
    return frame
