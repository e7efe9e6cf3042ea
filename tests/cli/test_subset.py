"""The command that releases who tested positive."""

import pytest

ASKED = ("--column", "result", "--positive", "positive")


@pytest.fixture
def results(tmp_path):
    """Forty samples, of which every eighth is positive."""
    path = tmp_path / "results.csv"
    rows = (f"s{i:02},{'Positive' if i % 8 == 0 else 'negative'}" for i in range(40))
    path.write_text("\n".join(["sample,result", *rows]) + "\n", encoding="utf-8")
    return path


def test_without_labels_rows_are_released(run, results):
    by_row = run("subset", results, *ASKED, "--epsilon", 100, "--json").json

    assert by_row["answer"] == [0, 8, 16, 24, 32]
    assert (by_row["neighbours"], by_row["delta"], by_row["exact"]) == ("substitute", 0, True)
    assert by_row["mechanism"] == "pure at a noisy size"


def test_a_report_of_pooled_tests_is_a_table_of_results(run, tmp_path):
    path = tmp_path / "report.csv"
    rows = (f"s{i},{i in {2, 5}},,False" for i in range(9))
    path.write_text("\n".join(["sample,positive,posterior,retest", *rows]), encoding="utf-8")
    asked = ("--column", "positive", "--positive", "true", "--label", "sample")

    ran = run("subset", path, *asked, "--epsilon", 100, "--json")

    assert ran.json["answer"] == ["s2", "s5"]


def test_a_public_number_is_declared_and_its_error_stated(run, results):
    ran = run("subset", results, *ASKED, "--d", 5, "--epsilon", 2, "--dry-run", "--json")

    assert ran.json["neighbours"] == "swap"
    assert ran.json["error_bound"]["unit"] == "swaps"
