import numpy as np
import polars as pl

import dpselect as dp
from dpselect.percentiles.methods import ByRank, OneByOne
from dpselect.percentiles.reading import Records, counts_of

TABLE = pl.DataFrame({"pay": [10, 20, 30, None], "who": ["ada", "bob", "cy", "di"]})
LABEL = {"p": 50, "upper": 100, "epsilon": 1.0}
VALUE = {
    "p": 50,
    "candidates": range(101),
    "epsilon": 1.0,
    "neighbours": dp.Neighbours.ADD_REMOVE,
}


def test_a_label_column_is_what_is_released(tmp_path):
    TABLE.write_parquet(tmp_path / "staff.parquet")
    TABLE.write_csv(tmp_path / "staff.csv")

    for data in (TABLE, TABLE.lazy(), tmp_path / "staff.parquet", str(tmp_path / "staff.csv")):
        release = dp.PercentileRecord(column="pay", label="who", **LABEL).release(data)
        assert release.candidate in {"ada", "bob", "cy", "di"}


def test_a_plan_states_the_public_facts_of_the_mechanism():
    assert "direction='non-decreasing'" in dp.PercentileRecord(**LABEL).plan.mechanism


def test_what_is_public_depends_on_the_relation():
    by_name = VALUE | {"neighbours": "substitute"}

    assert "the number of records" in dp.Percentiles(**by_name).plan.public
    assert "the number of records" not in dp.Percentiles(**VALUE).plan.public


def test_no_error_of_a_record_is_above_the_declared_end():
    nothing_said = dp.PercentileRecord(**LABEL, records=3).plan.error
    assert (nothing_said.value, nothing_said.largest) == (float("inf"), 100)
    certain = LABEL | {"epsilon": 1e3, "mechanism": "local-dampening"}
    assert dp.PercentileRecord(**certain, records=3).plan.error.value < 1


def test_one_by_one_sorts_independent_draws():
    """Of two percentiles, against the sum over all pairs."""
    values = np.array([1.0, 1, 1, 2, 2, 3, 5, 5, 5.5, 8])
    points = np.arange(7.0)
    ranks = counts_of(values, points)
    singles = [ByRank(p, points, Records(VALUE["neighbours"]), 1.5) for p in (40, 60)]
    laws = OneByOne(tuple(singles)).probabilities(ranks)
    alone = [one.probabilities(ranks)[0] for one in singles]
    pairs = np.outer(*alone)
    smaller = [pairs[i, i:].sum() + pairs[i + 1 :, i].sum() for i in range(7)]

    np.testing.assert_allclose(laws[0], smaller, atol=1e-14)
    np.testing.assert_allclose(laws.sum(axis=0), sum(alone), atol=1e-14)
