"""The same commands where the rows stay in an engine."""

from itertools import product

import polars as pl
import pytest

import dpselect as dp
from dpselect.budget import Budget
from support.engines import JAVA, master, spark

PERCENTILE = ("--column", "days", "--p", 90, "--upper", 20, "--step", 10, "--epsilon", 50)
ADD_REMOVE = ("--neighbours", "add-remove", "--json")


def on(engine):
    return ("--engine", engine, *(master() if engine == "spark" else ()))


@pytest.fixture
def many_stays(tmp_path):
    path = tmp_path / "stays.csv"
    rows = "\n".join(f"{i % 21}" for i in range(4000))
    path.write_text(f"days\n{rows}\nunknown\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("kind", "engine"),
    [
        *product(["csv", "parquet"], ["memory", "polars"]),
        pytest.param("parquet", "spark", marks=pytest.mark.spark),
    ],
)
def test_only_rows_that_a_comparison_keeps(run, tmp_path, engine, kind):
    rows = {"days": [0] * 900 + [10] * 100, "year": [2023] * 900 + [2024] * 100}
    getattr(pl.DataFrame(rows), f"write_{kind}")(tmp_path / f"stays.{kind}")
    ledger = tmp_path / "spent.db"
    run("budget", ledger, "--create", "--epsilon", 100, *ADD_REMOVE[:2])

    ran = run(
        *("percentile", tmp_path / f"stays.{kind}", *PERCENTILE, *ADD_REMOVE, *on(engine)),
        *("--where", "year > 2023.5", "--where", "days < 20", "--ledger", ledger),
    )

    assert ran.code == 0, ran.error
    assert ran.json["answer"] == [10.0]
    [entry] = Budget.open(ledger).entries
    assert entry.question["arguments"]["where"] == ["year > 2023.5", "days < 20"]
    assert "where year > 2023.5 and days < 20: column" in run("budget", ledger, columns=900).out


def test_a_terminal_shows_which_pass_is_made(run, many_stays, monkeypatch):
    shown = []
    monkeypatch.setattr("rich.status.Status.update", lambda _, text: shown.append(text))
    asked = ("percentile", many_stays, *PERCENTILE[:5], 1000, *PERCENTILE[6:], "--step", 1)

    ran = run(*asked, *ADD_REMOVE, *on("polars"))

    assert (ran.code, ran.error.count("\n")) == (0, 1)
    assert ran.error.startswith("dpselect: text file: numbers as 1200.5;")
    assert list(dict.fromkeys(shown)) == [
        "counting and choosing, pass 1 of 2 ...",
        "counting and choosing, pass 2 of 2 ...",  # which polars does not need
    ]


@pytest.mark.spark
def test_a_file_that_spark_cannot_read(run, tmp_path):
    for name, message in (("no.parquet", "cannot be read by Spark"), ("no.doc", "must end in")):
        ran = run(*("percentile", tmp_path / name, *PERCENTILE, *ADD_REMOVE, *on("spark")))
        assert (ran.code, message in ran.error) == (2, True)


@pytest.fixture(params=["hospital_stays", "dat"])
def named(tmp_path, request):
    """Return the names of a table in the catalogue of the session; one may be a file's."""
    pl.DataFrame({"days": [day % 21 for day in range(400)]}).write_parquet(
        tmp_path / "stays.parquet"
    )
    session, place = spark(), tmp_path / "stays.parquet"
    name = f"default.{request.param}"
    session.sql(f"CREATE TABLE {name} USING parquet LOCATION '{place}'")
    yield name, f"{CATALOGUE}.{name}"
    session.sql(f"DROP TABLE {name}")


CATALOGUE = "spark_catalog" if JAVA else "sail"


@pytest.mark.spark
def test_a_table_of_a_catalogue(run, named):
    for name in named:
        if not JAVA:
            ran = run("percentile", name, *PERCENTILE, *ADD_REMOVE, *on("spark"))
            assert (ran.code, "give a file by its path" in ran.error) == (2, True)
            continue
        ran = run("percentile", name, *PERCENTILE, *ADD_REMOVE, *on("spark"))
        assert ran.code == 0, ran.error
        assert (ran.json["answer"], ran.json["source"]) == ([20.0], name)
    for name in ("default.unknown_stays", "unknown.default.hospital_stays"):
        ran = run("percentile", name, *PERCENTILE, *ADD_REMOVE, *on("spark"))
        assert (ran.code, ran.out) == (2, "")
        assert ran.error == f"dpselect: there is no table {name} in the catalogue\n"


@pytest.mark.parametrize("engine", ["memory", "polars"])
def test_persons_are_the_text_that_a_file_has_also_where_they_are_nodes(run, tmp_path, engine):
    """As integers 007 and 7 would be one person, of whom one edge counts."""
    (tmp_path / "calls.csv").write_text("u,v\n007,1\n7,3\n", encoding="utf-8")
    ran = run(
        *("nodes", tmp_path / "calls.csv", "--source", "u", "--target", "v", "--nodes", 9),
        *("--k", 9, "--metric", "degree", "--user", "u", "--max-per-user", 1),
        *("--epsilon", 1e4, "--json", *on(engine)),
    )

    assert ran.code == 0, ran.error
    found = dict(zip(ran.json["answer"], ran.json["noisy_scores"], strict=True))
    assert {node: degree for node, degree in found.items() if degree} == {7: 2, 1: 1, 3: 1}


@pytest.mark.parametrize("engine", ["memory", "polars"])
def test_a_column_of_numbers_is_text_for_a_query_of_keys(tmp_path, engine):
    (tmp_path / "stays.csv").write_text("days\n" + "07\n7\n" * 500, encoding="utf-8")
    data = {"path": str(tmp_path / "stays.csv"), "engine": engine}
    both = {"column": "days", "epsilon": 50.0, "neighbours": "add-remove"}
    queries = [
        {"query": "Percentiles", "name": "half", "p": 50, "candidates": [0, 7, 20], **both},
        {"query": "Keys", "name": "common", "delta": 1e-6, **both},
    ]
    found = dp.Request.from_dict({"data": data, "queries": queries}).release()

    assert found["half"].answer == (7.0,)
    assert sorted(found["common"].answer) == ["07", "7"]


@pytest.mark.parametrize(
    ("command", "leaving"),
    [
        ("percentile", "Only counts leave"),
        ("subset", "The statuses and the labels leave"),
        ("variants", "All rows, which are counts of the variants, leave"),
    ],
)
def test_help_says_what_leaves_an_engine(run, command, leaving):
    help_ = " ".join(run(command, "--help", columns=400).out.split())

    assert f"{leaving} the last three" in help_
