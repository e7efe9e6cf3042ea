"""The same commands where the rows stay in an engine."""

import polars as pl
import pytest

from support.engines import JAVA, master, spark

PERCENTILE = ("--column", "days", "--p", 90, "--upper", 20, "--step", 10, "--epsilon", 50)
ADD_REMOVE = ("--neighbours", "add-remove", "--json")


def on(engine):
    return ("--engine", engine, *(master() if engine == "spark" else ()))


def test_a_terminal_shows_which_pass_is_made(run, tmp_path, monkeypatch):
    path, shown = tmp_path / "stays.csv", []
    path.write_text("days\n" + "20\n" * 4000 + "unknown\n", encoding="utf-8")
    monkeypatch.setattr("rich.status.Status.update", lambda _, text: shown.append(text))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("rich.console.Console.is_terminal", False)  # nothing moves
    asked = ("percentile", path, *PERCENTILE[:5], 1000, *PERCENTILE[6:], "--step", 1)

    ran = run(*asked, *ADD_REMOVE, *on("polars"))

    assert (ran.code, ran.error.count("\n")) == (0, 1)
    assert ran.error.startswith("dpselect: text file: numbers as 1200.5,")
    made, after = "counting and choosing, pass 1 of 1 ...", "counting and choosing ..."
    assert list(dict.fromkeys(shown)) == [made, after]


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
        ran = run("percentile", name, *PERCENTILE, *ADD_REMOVE, *on("spark"))
        if not JAVA:
            assert (ran.code, "give a file by its path" in ran.error) == (2, True)
            continue
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
