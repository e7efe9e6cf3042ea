"""Rows that statements about several numbers are compared with, of frames made by hand."""

import numpy as np
import polars as pl
import pytest

from dpselect_studies.fanaeepour_2017 import figure_10 as maps
from dpselect_studies.farias_2023 import figure_10 as nodes
from dpselect_studies.farias_2024 import figure_2, figure_3


def test_orders_are_between_the_epsilons_at_half_of_the_recall():
    rows = [
        {"graph": "G", "method": method, "draw": "exponential", "epsilon": epsilon, "recall": r}
        for method, recalls in {
            figure_3.LOCAL: (0.1, 0.4, 0.6, 1.0),
            figure_3.GLOBAL: (0.0, 0.0, 0.25, 0.75),
        }.items()
        for epsilon, r in zip((0.01, 0.1, 1.0, 10.0), recalls, strict=True)
    ]

    found = figure_3.with_orders(pl.DataFrame(rows)).row(-1, named=True)

    # Half is reached in the middle of the second and of the third decade.
    assert (found["graph"], found["method"]) == ("G", figure_3.ORDERS)
    assert found["orders"] == pytest.approx(1.0)
    error = 0.5 / np.sqrt(figure_3.FULL.runs)
    assert found["standard_error"] == pytest.approx(np.hypot(error / 0.2, error / 0.5))


def test_half_that_is_never_found_makes_no_row():
    rows = {"graph": "G", "draw": "exponential", "epsilon": [1.0, 2.0], "recall": [0.1, 0.2]}
    parts = [pl.DataFrame({"method": one, **rows}) for one in (figure_3.GLOBAL, figure_3.LOCAL)]
    frame = pl.concat(parts)

    assert figure_3.with_orders(frame).height == frame.height


def test_permute_and_flip_is_told_from_the_exponential_mechanism():
    shown = {"bound": "own", "k": 10, "method": nodes.SHIFTED}
    columns = ("orders below exponential", "orders below permute-and-flip")
    rows = [
        {**shown, "graph": graph, **dict(zip(columns, orders, strict=True))}
        for graph, orders in {"A": (2.0, 1.9), "B": (4.5, 4.5)}.items()
    ]

    found = nodes.with_differences(pl.DataFrame(rows)).filter(pl.col("orders").is_not_null())

    by_graph = dict(zip(found["graph"], found["orders"], strict=True))
    assert by_graph == pytest.approx({"A": 0.1, "B": 0.0, nodes.SPREAD: 2.5})


def test_sets_of_positions_are_brought_together_by_their_median():
    def rows(points, without, errors):
        return [
            {
                "points": points, "method": "m", "area": 1.0, "positions": i,
                "error": error, "error_of_all": error + 1, "without_points": without,
            }
            for i, error in enumerate(errors)
        ]  # fmt: skip

    frame = pl.DataFrame(
        rows("few", 0.1, [9.0, 1.0, 2.0, 3.0]) + rows("most", 0.9, [9.0, 4.0, 5.0, 6.0])
    )

    found = maps.with_sets(frame).filter(pl.col("median").is_not_null())

    # The first set is the one that is shown; of few without points all queries count.
    assert found["median"].to_list() == [3.0, 5.0]
    assert found["sets"].to_list() == [3, 3]
    assert found["deviation"].to_list() == pytest.approx([2 / 3, 2 / 3])


def test_improvements_are_percents_with_the_errors_of_both_means():
    def row(method, fitness, epsilon=figure_2.SAME):
        known = {"survey": "ACS", "epsilon": epsilon, "standard_error": 0.04, "runs": 100}
        return {**known, "method": method, "fitness": fitness}

    frame = pl.DataFrame([
        row(figure_2.LOCAL, 4.0), row(figure_2.PLAIN, 3.2),
        row(figure_2.LOCAL, 1.0, 0.1), row(figure_2.PLAIN, 2.0, 0.1),
    ])  # fmt: skip

    found = figure_2.with_improvements(frame).filter(pl.col("improvement").is_not_null())

    by_method = {row["method"]: row for row in found.to_dicts()}
    percents = {name: one["improvement"] for name, one in by_method.items()}
    # The code takes the mean of 25 and of the size of -50.
    assert percents == pytest.approx({figure_2.IMPROVEMENT: 25.0, figure_2.OVERALL: 37.5})
    error = 100 * 1.25 * np.hypot(0.04 / 4.0, 0.04 / 3.2)
    assert by_method[figure_2.IMPROVEMENT]["standard_error"] == pytest.approx(error)
