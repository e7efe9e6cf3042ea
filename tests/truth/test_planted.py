"""Faults that were there, put back one by one: the plain questions find each of them."""

from dataclasses import replace

import narwhals as nw
import numpy as np
import pytest

from dpselect.maps.box import Box
from dpselect.percentiles import placing, ranks
from dpselect.percentiles.ranges import Range
from dpselect.subsets import reading as statuses
from dpselect.tables import groups
from dpselect.tables.key_columns import KeyColumns
from truth.test_truth import check

CASES = 300
"""Questions that are asked until one is answered wrongly."""

halfway = placing._halfway
lines, holds = Box.lines, Box.holds
encoded, numbered, word = KeyColumns._encoded, groups._numbered, statuses.word


def beyond_is_lost(points, numbers, kind=np.float64):
    """Place records beyond the last candidate at the first one."""
    found = placing.places_of(points, numbers, kind)
    last = points.max() if isinstance(points, np.ndarray) else points[len(points) - 1]
    return np.where(numbers > last, 0, found)


def ties_downwards(points):
    return np.nextafter(halfway(points), np.inf)


def at_or_below(points):
    """Place records at the last candidate that is not above them."""
    return points[1:]


def by_a_float_division(self, numbers, kind=np.float64):
    """Place records by the quotient of floats, which is rounded down."""
    del kind
    at = (np.clip(numbers, self.lower, self.upper) - self.lower) / self.step
    return np.floor(at).astype(np.int64)


def missing_is_a_part(self, text):
    return encoded(replace(self, missing=True), text)


def no_group_is_dropped(rows, listed, *, rest):
    return numbered(rows.filter(~nw.col(groups.GROUP).is_null()), listed, rest=rest)


def into_the_lower_cell(self, axis, at, parts):
    return np.nextafter(lines(self, axis, at, parts), np.inf)


def without_upper_edge(self, x, y, *, outside):
    return holds(self, x, y, outside=outside) & ((x < self.east) & (y < self.north))


def truth_as_its_word(status):
    return str(status).lower() if isinstance(status, bool) else word(status)


PLANTED = [
    (ranks, "places_of", beyond_is_lost, "percentiles one"),
    (placing, "_halfway", ties_downwards, "percentiles mechanism"),
    (placing, "_halfway", at_or_below, "percentiles listed"),
    (Range, "places", by_a_float_division, "percentiles several"),
    (KeyColumns, "_encoded", missing_is_a_part, "keys top, any key of columns"),
    (groups, "_numbered", no_group_is_dropped, "percentiles groups released first"),
    (Box, "lines", into_the_lower_cell, "maps heavy"),
    (Box, "holds", without_upper_edge, "maps map, uniform"),
    (statuses, "word", truth_as_its_word, "rooms subset"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "name", "fault", "question"),
    PLANTED,
    ids=[fault.__name__ for *_, fault, _ in PLANTED],
)
def test_a_planted_fault_is_found(monkeypatch, place, name, fault, question):
    check(question, CASES)
    monkeypatch.setattr(place, name, fault)

    with pytest.raises(AssertionError):
        check(question, CASES)
