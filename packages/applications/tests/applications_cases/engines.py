"""Releases of applications from every engine (``tests/test_engines.py``)."""

import dpselect as dp

PRICE = {"epsilon": 1e6, "neighbours": "add-remove"}
SURE = {**PRICE, "column": "word"}
PERSONS = {"user": "who", "max_per_user": 2}
LEVELS = {"tree": {"a": "letters", "bb": "letters", "letters": "all", "": "all"}, **SURE}
MONTHS = {"period": "code", "periods": [-3, -1, 0], "k": 1, "candidates": ["a", "bb"], **SURE}
CELLS = {"x": "x", "y": "y", "bounds": (0, 0, 2, 1), "grid": (3, 2), "k": 6, **PRICE}
NAMES = {"by": "ward", "groups": ["west", "none", "east"], "user": "name", "max_per_user": 40}
TREE = {
    "domains": {"ward": {"values": ["east", "west"], "other": "else"}, "code": [-3, -1, 2]},
    "classes": ["no", "yes"],
    "label": "ill",
    "max_records": 10_000,
    **PRICE,
}
CASES = {
    "columns": dp.BestColumns(**TREE, k=1, user="name", max_per_user=40),
    "cells": dp.HeavyCells(**CELLS, mechanism="noisy-sequence"),
    "cells with all points": dp.HeavyCells(**CELLS, outside="clip", **PERSONS),
    "cells by group": dp.HeavyCells(**CELLS, **NAMES),
    "cells by any group": dp.HeavyCells(**CELLS, by="ward", other=True, delta=1e-9),
    "levels": dp.Levels(**LEVELS, **PERSONS),
    "series": dp.Series(**MONTHS),
    "series of persons": dp.Series(**MONTHS, **PERSONS),
}
