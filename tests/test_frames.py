"""Queries as methods of frames."""

import pandas as pd
import polars as pl
import pytest

import dpselect as dp
import dpselect.frames
from dpselect.errors import InsufficientBudgetError

ROWS = {"ward": ["heart"] * 60 + ["lung"] * 20, "days": [3.0] * 70 + [9.0] * 10}
ASKED = {"epsilon": 50.0, "neighbours": "add-remove"}
FRAMES = [pl.DataFrame(ROWS), pl.LazyFrame(ROWS), pd.DataFrame(ROWS)]
every_frame = pytest.mark.parametrize("frame", FRAMES, ids=["polars", "lazy", "pandas"])


@every_frame
def test_a_frame_has_the_queries_as_methods(frame):
    top = frame.dpselect.top_keys(column="ward", k=1, candidates=["heart", "lung"], **ASKED)
    median = frame.dpselect.percentiles(column="days", p=50, upper=9, step=1, **ASKED)

    assert (top.candidate, median.candidate) == ("heart", 3.0)
    assert top.query == dp.TopKeys(column="ward", k=1, candidates=["heart", "lung"], **ASKED)


@every_frame
def test_a_method_charges_a_budget(frame):
    budget = dp.Budget(60.0, neighbours="add-remove")
    asked = {"column": "ward", "k": 1, "candidates": ["heart", "lung"], **ASKED}

    frame.dpselect.top_keys(**asked, budget=budget)

    assert budget.remaining == 10
    with pytest.raises(InsufficientBudgetError):
        frame.dpselect.top_keys(**asked, budget=budget)


def test_the_methods_are_the_queries_of_tables():
    listed = dir(FRAMES[0].dpselect)

    assert {"heavy_cells", "id3_tree", "keys", "map", "percentiles", "top_keys"} <= {*listed}
    assert FRAMES[0].dpselect.keys.__doc__ == dp.Keys.__doc__
    with pytest.raises(AttributeError, match="there is no query 'mean': best_columns,"):
        _ = FRAMES[0].dpselect.mean
    assert dpselect.frames.METHODS["top_nodes"] == "TopNodes"
