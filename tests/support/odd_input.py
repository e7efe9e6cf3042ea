"""Odd private input, with a marker in it, and everything that a call gives away of it."""

import io
import logging
import sys
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from dpselect.errors import DPSelectError

MARKER = 48151623
"""A private number; its digits are in no size, limit or default of the library."""

TEXT = f"secret{MARKER}"

LONG_AGO = datetime(1, 1, 1)  # noqa: DTZ001 -- odd on purpose
ODD_VALUES = [
    MARKER, -MARKER, MARKER * 10**9, MARKER * 10**300, float(MARKER), MARKER + 0.5,
    Fraction(MARKER, 7), Decimal(MARKER), Decimal("sNaN"), Decimal("NaN"), 10**400, 2**53 + 1,
    2**63, -(2**63) - 1, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"), None, True,
    TEXT, "", "n/a", "nan", f"{MARKER}", f' "{TEXT},', "\N{SNOWMAN}\0", TEXT.encode(), b"\xff",
    [MARKER], (MARKER, TEXT), {"key": MARKER}, {MARKER}, date(2020, 2, 29), LONG_AGO,
    1j * MARKER, np.float32(MARKER), np.int64(MARKER), np.datetime64("NaT", "s"), pd.NA, pd.NaT,
    object,
]  # fmt: skip

csv_fields = st.sampled_from([
    *map(str, range(10)), str(MARKER), f"{MARKER}.5", f"{MARKER}e300", f"-{MARKER}", TEXT,
    f'"{TEXT},1"', "", " ", "nan", "inf", "1e400", "0x1F", "n/a", "NULL", "true", "2020-02-29",
    "\N{SNOWMAN}",
])  # fmt: skip


@st.composite
def csv_files(draw, *names):
    """Draw the text of a CSV file with these columns."""
    row = st.lists(csv_fields, min_size=len(names), max_size=len(names)).map(",".join)
    return "\n".join([",".join(names), *draw(st.lists(row, max_size=8))]) + "\n"


@dataclass
class GivenAway:
    """All texts of one call: its error with all that is chained, logs, warnings, output."""

    texts: list[str] = field(default_factory=list)
    error: BaseException | None = None

    def is_private(self):
        """Return whether a private value was given away."""
        return any(str(MARKER) in text for text in self.texts)

    def assert_nothing_private(self):
        assert not self.is_private(), "a private value was given away"


class _Keep(logging.Handler):
    def __init__(self, texts):
        super().__init__(0)
        self.texts = texts

    def emit(self, record):
        self.texts.append(record.getMessage())


@contextmanager
def observed():
    """Record everything that a block gives away; let pass what is no error of ours."""
    seen = GivenAway()
    out, keep, root = io.StringIO(), _Keep(seen.texts), logging.getLogger()
    root.addHandler(keep)
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            redirect_stdout(out),
            redirect_stderr(out),
        ):
            warnings.simplefilter("always")
            try:
                yield seen
            except (DPSelectError, SystemExit) as error:
                seen.error = error
                seen.texts += _chain(error)
    finally:
        root.removeHandler(keep)
    seen.texts += [str(one.message) for one in caught]
    seen.texts.append(out.getvalue())


def _chain(error):
    texts, left, known = [], [error], set()
    while left:
        one = left.pop()
        if one is None or id(one) in known:
            continue
        known.add(id(one))
        texts += [str(one), repr(one.args), *getattr(one, "__notes__", ())]
        left += [one.__cause__, one.__context__]
    return texts


def ends_cleanly(error):
    """Return whether a command ended by itself: 70 is an error that is no one's but ours."""
    return not isinstance(error, SystemExit) or error.code in {0, 1, 2}


assert sys.get_int_max_str_digits() > 400
