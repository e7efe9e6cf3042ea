"""Public fields of the queries that odd data are given to, and how data are handed over."""

import datetime as dt

import narwhals as nw
import numpy as np

import dpselect as dp
from dpselect import trees

AR = "add-remove"
COLUMNS = ("f", "g", "y", "z", "name")
VARIANTS = 4
"""Rows of counts, whose number is public."""
BOTH = {"epsilon": 1.0, "neighbours": AR}
SURE = {"delta": 1e-3, **BOTH}
MEDIAN = {"p": 50, "candidates": range(10), **BOTH}
OF_F = {"column": "f", **MEDIAN}
PEOPLE = {"user": "y", "max_per_user": 2}
SEQUENCE = {"mechanism": "noisy-sequence", "interval": 0.9}
DAY = dt.timedelta(days=1)
DAILY = {"step": DAY, "p": 50, **BOTH}
DAYS = {"lower": dt.date(2020, 1, 1), "upper": dt.date(2020, 1, 9), **DAILY}
MOMENTS = [dt.datetime(2020, 1, day) for day in (1, 9)]  # noqa: DTZ001 -- local times
TIMES = {**DAILY, "lower": MOMENTS[0], "upper": MOMENTS[1]}
DURATIONS = {**DAILY, "lower": 0 * DAY, "upper": 9 * DAY}
KNOWN = {"column": "f", "candidates": [0, "a", 2], **BOTH}
BY_G = {"by": "g", "groups": [0, "a"]}
BOX = {"bounds": (0, 0, 9, 9), **BOTH}
CELLS = {"grid": 2, "k": 1, **BOX}
PLACES = {"x": "f", "y": "g"}
NODES = {"nodes": 9, "k": 1, "epsilon": 1.0}
EDGES = {"source": "f", "target": "g", **NODES}
DOMAINS = {"f": [0, 1], "g": trees.Bins(0.0, 9.0, bins=3)}
PUBLIC = {"domains": DOMAINS, "classes": ["a", "b"], "max_records": 10_000, **BOTH}
BY_COLUMN = {**PUBLIC, "label": "y"}
BY_PERSON = {**PUBLIC, "domains": {"g": trees.Bins(0.0, 9.0, bins=3)}, "label": "f", **PEOPLE}
UNNAMED = {**PUBLIC, "domains": list(DOMAINS.values())}
FRONT = {"population": 4, "survivors": 2, "front": 1, "generations": 1, "initial_depth": 1}
FRONT |= {"max_depth": 1, "random_state": 1}


def fitted(made):
    def fit(rows):
        if isinstance(rows, np.ndarray):
            return made().fit(rows[:, :2], rows[:, 2])
        return made().fit([row[:2] for row in rows], [row[2] for row in rows])

    return fit


def labels_apart(call):
    def called(table):
        frame = nw.from_native(table, eager_only=True)
        return call(nw.to_native(frame.select("f", "g")), nw.to_native(frame["y"]))

    return called


def id3(domains=UNNAMED, **asked):
    return trees.ID3Classifier(**{**domains, "max_depth": 1, **asked})


def objective(scores, **facts):
    return dp.Objective(scores, dp.GlobalSensitivity(1.0, AR, l1=1.0), **facts)
