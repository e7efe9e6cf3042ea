"""Releases of applications from every engine (``tests/test_engines.py``)."""

import dpselect as dp

SURE = {"epsilon": 1e6, "neighbours": "add-remove", "column": "word"}
PERSONS = {"user": "who", "max_per_user": 2}
LEVELS = {"tree": {"a": "letters", "bb": "letters", "letters": "all", "": "all"}, **SURE}
MONTHS = {"period": "code", "periods": [-3, -1, 0], "k": 1, "candidates": ["a", "bb"], **SURE}
CASES = {
    "levels": dp.Levels(**LEVELS, **PERSONS),
    "series": dp.Series(**MONTHS),
    "series of persons": dp.Series(**MONTHS, **PERSONS),
}
