"""Faults that were, put back one by one, are seen by the questions: nodes, trees and draws."""

from dataclasses import replace
from importlib import import_module
from math import ceil, log2
from pathlib import Path

import numpy as np
import pytest

from dpselect.draws import above_threshold
from dpselect.mechanisms import base, sequence
from dpselect.networks import hubs, metrics, reading
from dpselect.objective import Objective
from dpselect.trees import best_columns, domains, estimators, growth
from truth.counted import counted
from truth.questions.objectives import ONLY_FLAT

PAGES = Path(__file__).parents[2] / "docs"

weighted_sum = import_module("dpselect.combine.weighted_sum")
GROWING = {"name": "shifted", "direction": "non-decreasing"}
FALLING = {"name": "shifted", "direction": "non-increasing"}


def default(metric, mechanism):
    """Return what lets a metric be drawn by another mechanism."""
    changed = {**metrics.METRICS, metric: replace(metrics.METRICS[metric], mechanism=mechanism)}
    return metrics, "METRICS", changed


def combined(combine, mechanism):
    changed = {**metrics.COMBINED, combine: (mechanism, metrics.COMBINED[combine][1])}
    return metrics, "COMBINED", changed


def agreeing(parts, factors):
    """The direction of the terms whose sensitivities differ: a flat one agrees with any."""
    turned = {"non-decreasing": "non-increasing", "non-increasing": "non-decreasing"}
    terms = {
        turned.get(part.direction) if factor < 0 else part.direction
        for part, factor in zip(parts, factors, strict=True)
        if not part.sensitivity.flat
    }
    return terms.pop() if len(terms) == 1 else None if terms else "non-decreasing"


def by_direction(module):
    """Return splits that follow a direction that does not hold between domains."""

    def drawn_by(mechanism, epsilon, criterion, _max_records):
        growing = mechanism is None and criterion == "information-gain"
        return base.by_name(GROWING if growing else mechanism or "permute-and-flip", epsilon)

    return module, "drawn_by", drawn_by


to_steps, first_above = sequence.to_steps, above_threshold.first_above


def cut(scores, l1, step, *more):
    """Cut scores at a number of units that falls with how many there are."""
    most = l1 * 2.0 ** (37 - ceil(log2(max(2, scores.size))))
    return to_steps(np.clip(scores, -most, most), l1, step, *more)


def scaled_once(self, objective, k):
    """Draw all rounds by the unit scores of the first."""
    scores = self.unit_scores(objective)
    return lambda: base.Drawn(self.draw.sample(scores, self.epsilon, k))


def unchecked(self, scores, sensitivity, candidates=None, **facts):
    """Make an objective with candidates that nothing tells the order of."""
    made_with(self, scores, sensitivity, None, **facts)
    if candidates is not None:
        object.__setattr__(self, "candidates", candidates)


made_with = Objective.__init__

PLANTED = {
    "densities anchored at 1": (
        "networks TopNodes ego-density by default",
        default("ego-density", "anchored"),
    ),
    "betweenness that follows the degree": (
        "networks TopNodes ego-betweenness by default",
        default("ego-betweenness", GROWING),
    ),
    "a shifted Pareto score": (
        "networks TopNodes pareto by default",
        combined("pareto", FALLING),
    ),
    "a shifted sum": (
        "networks TopNodes weighted-sum by default",
        combined("weighted-sum", GROWING),
    ),
    "a flat term that agrees with any": (
        "combine weighted_sum by its direction",
        (weighted_sum, "_direction", agreeing),
    ),
    "the same of a disjoint sum": (
        "combine disjoint_sum by its direction",
        (weighted_sum, "_direction", agreeing),
    ),
    "columns by a direction between domains": (
        "tuning BestColumns information-gain",
        by_direction(best_columns),
    ),
    "splits by a direction between domains": (
        "trees ID3Classifier information-gain",
        by_direction(growth),
    ),
    "classes as they are declared": (
        "trees ID3Classifier gini",
        (estimators, "_ascending", lambda classes: [*range(len(classes))]),
    ),
    "values of a list of another type": (
        "tuning PrivateSelectKBest of text",
        (domains.Categories, "_declared", lambda _self, column: column.plain()),
    ),
    "edges of a list of another type": (
        "networks TopNodes of edges as csv.reader has them",
        (reading, "_meanings", lambda end: [end]),
    ),
    "scores cut at a grid": ("objectives Objective of many", (sequence, "to_steps", cut)),
    "one scaling for all rounds": (
        "objectives Objective exponential",
        (base.Mechanism, "prepare", scaled_once),
    ),
    "one scaling for bounds that differ": (
        "objectives Objective generalized",
        (base.Mechanism, "prepare", scaled_once),
    ),
    "estimates of hubs at every epsilon": (
        "networks Hubs ego-betweenness",
        (hubs, "COUNTED_FROM", float("inf")),
    ),
    "a threshold that must be exceeded": (
        "objectives AboveThreshold",
        (
            above_threshold,
            "first_above",
            lambda queries, at, *more: first_above(queries, at + 1, *more),
        ),
    ),
    "candidates without an order": (
        "objectives Objective candidates",
        (Objective, "__init__", unchecked),
    ),
}
"""Each fault by the question that sees it, and what is replaced by what."""


@pytest.mark.parametrize("name", ONLY_FLAT)
def test_a_page_says_what_a_mechanism_does_not_find(name):
    text = (PAGES / "mechanisms.md").read_text(encoding="utf-8")

    assert ONLY_FLAT[name] in " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_put_back_is_seen(fault, monkeypatch):
    question, (place, name, put) = PLANTED[fault]
    monkeypatch.setattr(place, name, put)

    _, wrong = counted(question, 100)

    assert wrong
