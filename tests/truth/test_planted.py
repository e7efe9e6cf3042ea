"""Faults that were there, put back one by one: the plain questions find each of them."""

from dataclasses import replace
from importlib import import_module
from math import ceil, log2
from pathlib import Path

import narwhals as nw
import numpy as np
import pytest

from dpselect import combine
from dpselect.draws import above_threshold
from dpselect.maps import points
from dpselect.maps.box import Box
from dpselect.mechanisms import base, sequence
from dpselect.networks import metrics, reading
from dpselect.objective import Objective
from dpselect.percentiles import candidates
from dpselect.percentiles.candidates import Range
from dpselect.percentiles.reading import Counts
from dpselect.percentiles.sparse_vector import Part
from dpselect.subsets import reading as statuses
from dpselect.tables import groups
from dpselect.tables.kinds import KeyColumns
from dpselect.trees import domains, estimators, id3
from dpselect_applications.columns import columns as best_columns
from dpselect_applications.hubs import hubs
from truth.counted import is_found
from truth.questions.objectives import ONLY_FLAT

PAGES = Path(__file__).parents[2] / "docs"

halfway = candidates._halfway
lines, inside, placed = Box.lines, points.inside, Range.places
in_cells = Counts.in_cells
encoded, rows, word = KeyColumns._encoded, groups.Groups.rows, statuses.word


def beyond_is_lost(self, numbers, kind=np.float64):
    """Place records beyond the last candidate at the first one."""
    return np.where(numbers > self.upper, 0, placed(self, numbers, kind))


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


def from_the_lower_end(self, records):
    """Count the records of a part from an end that may not be its own."""
    return np.ceil(records * self.p / 100).astype(int)


def of_all_parts(_self, ranks, _start, _end):
    """Leave nothing out of what other parts hold."""
    return ranks


def from_the_next_value(self, edges, start):
    return in_cells(self, edges, start + 1)


def missing_is_a_part(self, text):
    return encoded(replace(self, missing=True), text)


def no_rest_is_kept(self, data, numeric, asked, **more):
    return rows(self, data, numeric, [one for one in asked if one is not None], **more)


def into_the_lower_cell(self, axis, at, parts):
    return np.nextafter(lines(self, axis, at, parts), np.inf)


def without_upper_edge(rows, *, box, outside):
    found = inside(rows, box=box, outside=outside)
    return found.filter(nw.col("x") < box.east, nw.col("y") < box.north)


def truth_as_its_word(status):
    return str(status).lower() if isinstance(status, bool) else word(status)


weighted_sum = import_module("dpselect.combine.sums")
GROWING = {"name": "shifted", "direction": "non-decreasing"}
FALLING = {"name": "shifted", "direction": "non-increasing"}


def default(metric, mechanism):
    """Return what lets a metric be drawn by another mechanism."""
    changed = {**metrics.METRICS, metric: replace(metrics.METRICS[metric], mechanism=mechanism)}
    return metrics, "METRICS", changed


def combined(mechanism):
    """Return what lets combinations be drawn by another mechanism."""
    return combine, "mechanism_for", lambda *_, **__: mechanism


def agreeing(terms):
    """The direction of the terms whose sensitivities differ: a flat one agrees with any."""
    turned = {"non-decreasing": "non-increasing", "non-increasing": "non-decreasing"}
    stated = {
        turned.get(part.direction) if factor < 0 else part.direction
        for part, factor in terms
        if not part.sensitivity.flat
    }
    return stated.pop() if len(stated) == 1 else None if stated else "non-decreasing"


def growing(mechanism, epsilon, criterion, _max_records):
    """Draw splits by a direction that does not hold between domains."""
    growing = mechanism is None and criterion == "information-gain"
    return base.by_name(GROWING if growing else mechanism or "permute-and-flip", epsilon)


to_steps, first_above = sequence.to_steps, above_threshold.first_above


def cut(scores, l1, step, *more):
    """Cut scores at a number of units that falls with how many there are."""
    most = l1 * 2.0 ** (34 - ceil(log2(max(2, scores.size))))
    return to_steps(np.clip(scores, -most, most), l1, step, *more)


def scaled_once(self, objective, k):
    """Draw all rounds by the unit scores of the first."""
    scores = self.unit_scores(objective)
    return lambda: base.Drawn(self.draw.sample(scores, self.epsilon, k))


def as_declared(classes):
    return [*range(len(classes))]


def of_any_type(value, _listed, **_more):
    return value


def as_listed(end):
    return [end]


def exceeding(queries, at, *more):
    return first_above(queries, at + 1, *more)


def unchecked(self, scores, sensitivity, candidates=None, **facts):
    """Make an objective with candidates that nothing tells the order of."""
    made_with(self, scores, sensitivity, None, **facts)
    if candidates is not None:
        object.__setattr__(self, "candidates", candidates)


made_with = Objective.__init__

PLANTED = {
    "percentiles one": (Range, "places", beyond_is_lost),
    "percentiles assumed_records": (candidates, "_halfway", ties_downwards),
    "percentiles listed": (candidates, "_halfway", at_or_below),
    "percentiles several": (Range, "places", by_a_float_division),
    "percentiles several, all types": (Part, "wanted", from_the_lower_end),
    "percentiles by group": (Counts, "between", of_all_parts),
    "percentiles one, all types": (Counts, "in_cells", from_the_next_value),
    "keys top, any key of columns": (KeyColumns, "_encoded", missing_is_a_part),
    "percentiles groups released first": (groups.Groups, "rows", no_rest_is_kept),
    "cells heavy": (Box, "lines", into_the_lower_cell),
    "maps map, uniform": (points, "inside", without_upper_edge),
    "subsets subset": (statuses, "word", truth_as_its_word),
    "networks TopNodes ego-density by default": default("ego-density", "anchored"),
    "networks TopNodes ego-betweenness by default": default("ego-betweenness", GROWING),
    "networks TopNodes pareto by default": combined(FALLING),
    "networks TopNodes weighted-sum by default": combined(GROWING),
    "combine weighted_sum by its direction": (weighted_sum._Terms, "_direction", agreeing),
    "combine disjoint_sum by its direction": (weighted_sum._Terms, "_direction", agreeing),
    "columns BestColumns information-gain": (best_columns, "drawn_by", growing),
    "trees ID3Classifier information-gain": (id3, "drawn_by", growing),
    "trees ID3Classifier gini": (estimators, "_ascending", as_declared),
    "columns PrivateSelectKBest of text": (domains, "declared", of_any_type),
    "networks TopNodes of edges as csv.reader has them": (reading, "_meanings", as_listed),
    "objectives Objective of many": (sequence, "to_steps", cut),
    "objectives Objective exponential": (base.Mechanism, "prepare", scaled_once),
    "objectives Objective generalized": (base.Mechanism, "prepare", scaled_once),
    "hubs Hubs ego-betweenness": (hubs, "COUNTED_FROM", float("inf")),
    "objectives AboveThreshold": (above_threshold, "first_above", exceeding),
    "objectives Objective candidates": (Objective, "__init__", unchecked),
}
"""By the question that sees it, and what is replaced by what."""


@pytest.mark.parametrize("name", ONLY_FLAT)
def test_a_page_says_what_a_mechanism_does_not_find(name):
    text = (PAGES / "own.md").read_text(encoding="utf-8")

    assert ONLY_FLAT[name] in " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize("question", PLANTED)
def test_a_fault_put_back_is_seen(question, monkeypatch):
    place, name, put = PLANTED[question]
    monkeypatch.setattr(place, name, put)

    assert is_found(question, 300)
