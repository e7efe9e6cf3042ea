"""A question with its right answers, and the containers that hold its data.

Nothing here or in ``questions`` imports the library, except the queries that are asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

from support.engines import held_by


@dataclass(frozen=True)
class Question:
    """One release, and what it may answer.

    Attributes:
        text: Python that asks it again, in one line.
        ask: Returns the release, or what was read off it.
        right: Whether that is right: True, or False, or in words what is wrong.
        held: The same question of rows in another container, if engines may hold them.
    """

    text: str
    ask: Callable[[], Any] = field(repr=False)
    right: Callable[[Any], bool | str] = field(repr=False)
    held: Callable[[str], "Question"] | None = field(default=None, repr=False)

    def __repr__(self):
        return self.text


def asked(query, fields, rows, right, *, held="polars"):
    """Return the question what ``query(**fields)`` releases of rows in a container.

    Args:
        query: The class.
        fields: Its arguments.
        rows: ``Rows``: pairs of a row and how often it occurs.
        right: Of the release.
        held: Name of the container (``CONTAINERS``).
    """
    given = ", ".join(f"{name}={one!r}" for name, one in fields.items())
    text = f"dp.{query.__name__}({given}).release(CONTAINERS[{held!r}]({rows!r}))"

    def elsewhere(engine):
        return asked(query, fields, rows, right, held=engine)

    return Question(
        text,
        lambda: query(**fields).release(CONTAINERS[held](rows)),
        right,
        elsewhere if held == "polars" else None,
    )


@dataclass(frozen=True)
class Rows:
    """Rows that are equal in runs.

    Attributes:
        names: The columns; one without a name if data are the values themselves.
        runs: Pairs of a row, a tuple with a value of each column, and how often it occurs.
        types: The polars type of a column, where its values do not tell.
        each: How many equal rows each person has; a column ``who`` names the persons, if any.
    """

    names: tuple[str, ...]
    runs: tuple[tuple[tuple[Any, ...], int], ...]
    types: Mapping[str, Any] = field(default_factory=dict)
    each: int = 0

    @property
    def columns(self):
        """Lists of all values by column."""
        every = [row for row, times in self.runs for _ in range(times * (self.each or 1))]
        found = {name: [row[at] for row in every] for at, name in enumerate(self.names)}
        if self.each:
            found["who"] = [at // self.each for at in range(len(every))]
        return found

    def frame(self):
        """Return a polars frame."""
        types = {"who": pl.Int64, **self.types}
        return pl.DataFrame(
            {name: pl.Series(one, dtype=types.get(name)) for name, one in self.columns.items()}
        )


def _list(rows):
    [values] = rows.columns.values()
    return values


def _pandas(rows):
    return rows.frame().to_pandas()


def _objects(rows):
    return pd.DataFrame(
        {name: pd.Series(one, dtype=object) for name, one in rows.columns.items()}
    )


ENGINES = ("polars lazy", "duckdb", "spark")
CONTAINERS = {
    "list": _list,
    "array": lambda rows: rows.frame().to_series().to_numpy(),
    "polars": Rows.frame,
    "pandas": _pandas,
    "objects": _objects,
    **{
        engine: lambda rows, of=engine: held_by(of.split()[0], rows.frame())
        for engine in ENGINES
    },
}
"""What holds rows: a list and an array have one column without a name."""

EPSILONS = st.sampled_from([200.0, 1e3, 1e4, 1e6])
RELATIONS = st.sampled_from(["add-remove", "substitute"])


def runs(values, *, most=6, times=(1, 1, 2, 3, 20, 500)):
    """Return a strategy of runs: a few values, each as often as one of ``times``."""
    return st.lists(st.tuples(values, st.sampled_from(times)), max_size=most)


def expand(pairs):
    """Return all values of runs as a list."""
    return [value for value, times in pairs for _ in range(times)]


def close(found, wanted, off):
    """Return whether numbers are as near as that, or which are not."""
    far = np.abs(np.asarray(found, float) - np.asarray(wanted, float)) > off
    return True if not far.any() else f"{np.asarray(found)[far]} for {np.asarray(wanted)[far]}"
