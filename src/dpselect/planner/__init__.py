"""Planner: which mechanism, which epsilon, how many people; in Python and as one page.

A question (:class:`MostCommon`, :class:`BestScore`, :class:`Percentile`, :class:`Keys`,
:class:`Subset`, :class:`Response`) is made of public or synthetic data, or of a shape.
:func:`page` has the same answers without Python.
"""

from dpselect.planner.assembly import page
from dpselect.planner.question import Outcome, Question
from dpselect.planner.questions import BestScore, MostCommon, Percentile
from dpselect.planner.risk import Risk, risk_of
from dpselect.planner.sets import Keys, Response, Subset
from dpselect.planner.shapes import equally_spaced, led_by, spread
from dpselect.planner.solving import best_mechanism, epsilon_for, people_for

__all__ = [
    "BestScore",
    "Keys",
    "MostCommon",
    "Outcome",
    "Percentile",
    "Question",
    "Response",
    "Risk",
    "Subset",
    "best_mechanism",
    "epsilon_for",
    "equally_spaced",
    "led_by",
    "page",
    "people_for",
    "risk_of",
    "spread",
]


def __dir__() -> list[str]:
    return sorted(__all__)
