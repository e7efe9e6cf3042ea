"""The commands that release the most common values, and which values there are."""

import polars as pl
import pytest

import dpselect as dp

VISITS = pl.DataFrame(
    [(p, f"D{d}", d % 2) for p in range(400) for d in range(1 + p % 4)],
    schema=["patient", "diagnosis", "ward"],
    orient="row",
)
OF_PATIENTS = (
    "--column", "diagnosis", "--user", "patient", "--max-per-user", 4,
    "--neighbours", "add-remove",
)  # fmt: skip
UNKNOWN = ("--epsilon", 100, "--delta", 1e-6)


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.parquet"
    VISITS.write_parquet(path)
    return path


def test_what_is_above_the_cap_is_said_not_to_count(run, visits):
    ran = run("keys", visits, *OF_PATIENTS, *UNKNOWN)
    dry = run("keys", visits, *OF_PATIENTS, *UNKNOWN, "--dry-run")

    for said in (ran.out, dry.out):
        assert "at most 4 of each 'patient'; the rest is ignored" in " ".join(said.split())


def test_the_top_is_released_with_and_without_candidates(run, visits, tmp_path):
    listed = tmp_path / "codes.txt"
    listed.write_text("D3\nD1\nD9\n")

    asked = ("top", visits, *OF_PATIENTS, "--epsilon", 100, "--k", 2, "--json")
    unknown = run(*asked, "--delta", 1e-6)
    known = run(*asked, "--candidates", listed)

    assert unknown.json["answer"] == ["D0", "D1"]
    assert known.json["answer"] == ["D1", "D3"]
    assert known.json["delta"] == 0


def test_scores_and_thresholds_are_read_off_one_sequence(run, visits):
    known = ("--candidates", "D0,D1,D2,D3", "--epsilon", 1000)

    sequence = ("--mechanism", "noisy-sequence")
    scores = run("top", visits, *OF_PATIENTS, *known, "--k", 1, *sequence, "--json")
    above = run("top", visits, *OF_PATIENTS, *known, "--above", 250, "--json")

    assert (scores.json["answer"], scores.json["counts"]) == (["D0"], [400])
    assert (above.json["answer"], above.json["counts"]) == (["D0", "D1"], [400, 300])


def test_public_groups_and_candidates_have_a_row_of_all_others(run, visits, tmp_path):
    listed = tmp_path / "codes.txt"
    listed.write_text("D0\nD1\nD2\nD3\n")
    asked = (
        "top", visits, *OF_PATIENTS, "--epsilon", 1000, "--by", "ward", "--groups", "0,1",
        "--candidates", listed, "--k", 1, "--other",
    )  # fmt: skip
    released, words = run(*asked, "--json").json, run(*asked)

    assert released["answer"] == [[0, "D0"], [1, "D1"]]
    assert released["counts"] == [400, 300]
    assert released["other"] == [[0, 200], [1, 100]]
    assert words.out.count("(other)") == 2


def test_groups_are_released_first_where_they_are_not_given(run, visits, tmp_path):
    picture = tmp_path / "out.png"
    asked = (visits, *OF_PATIENTS, *UNKNOWN, "--k", 1, "--by", "ward")

    known = (*asked, "--candidates", "D0,D1,D2,D3")
    ran = run("top", *known, "--groups-share", 0.5, "--json")
    words = run("top", *known)
    dry = run("top", *known, "--dry-run", "--plot", picture)

    assert ran.json["answer"] == [[0, "D0"], [1, "D1"]]
    assert ran.json["groups"] == [0, 1]
    assert "groups" in words.out
    assert "a group" in dry.out
    assert picture.stat().st_size > 0


@pytest.mark.parametrize("command", [("keys",), ("top", "--k", 2)])
def test_a_dry_run_says_how_many_people_a_value_needs(run, visits, tmp_path, command):
    ledger, picture = tmp_path / "clinic.budget", tmp_path / "out.png"
    relation = dp.Neighbours.ADD_REMOVE
    dp.Budget(200.0, 1e-5, neighbours=relation, protects="patient", path=ledger)
    name, *more = command

    ran = run(
        name, visits, *more, *OF_PATIENTS, *UNKNOWN, "--ledger", ledger, "--dry-run",
        "--plot", picture, "--json",
    )  # fmt: skip

    assert ran.code == 0
    assert ran.json["a value"]["P(released) >= 0.5"].startswith("from ")
    assert ran.json["remaining_budget"] == 100
    assert picture.stat().st_size > 0
    assert dp.Budget.open(ledger).entries == ()


def test_noisy_counts_are_printed(run, visits):
    ran = run("keys", visits, *OF_PATIENTS, *UNKNOWN, "--method", "laplace")

    assert "diagnosis  people, noisy" in ran.out
    assert "D0                   4" in ran.out or "D0                   39" in ran.out


ODD = "patient,diagnosis\n" + "".join(
    f"{4 * i},flu\n,cold\n{4 * i + 1},\n{4 * i + 2},7\n{4 * i + 3},07\n" for i in range(30)
)
SURE = ("--epsilon", 100, "--delta", 1e-6, "--neighbours", "add-remove")


def test_odd_rows_are_dropped_or_keys_as_is_declared(run, tmp_path):
    """A row without a person, a missing key, and keys of mixed kinds in a file."""
    path = tmp_path / "odd.csv"
    path.write_text(ODD)
    asked = ("--column", "diagnosis", *SURE, "--json")
    of_patients = (*asked, "--user", "patient", "--max-per-user", 1)

    assert run("keys", path, *asked).json["answer"] == ["07", "7", "cold", "flu"]
    assert run("keys", path, *of_patients).json["answer"] == ["07", "7", "flu"]
    with_none = run("keys", path, *of_patients, "--missing", "key").json["answer"]
    assert with_none == ["07", "7", "flu", None]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_table_of_an_answer_is_written_to_a_file(run, visits, tmp_path, suffix):
    out = tmp_path / f"table.{suffix}"
    top = ("top", visits, "--column", "diagnosis", "--k", 1, *SURE)

    ran = run(*top, "--out", out, "--json")

    written = (pl.read_csv if suffix == "csv" else pl.read_parquet)(out)
    assert written.columns == ["diagnosis", "noisy_count"]
    assert written["diagnosis"].to_list() == ran.json["answer"]
    assert written["noisy_count"].to_list() == ran.json["counts"]
