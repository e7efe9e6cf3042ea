import polars as pl

import dpselect as dp

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
    numbers = [dp.Percentiles(**by_name).release([1.0, None] * 20).records for _ in range(60)]
    assert max(numbers) == 40
