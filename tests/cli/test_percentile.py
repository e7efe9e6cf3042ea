"""The commands that release percentiles, and the record at one."""

import pytest

RECORD = ("--column", "days", "--p", 90, "--upper", 60, "--epsilon", 1)
ASKED = ("--column", "days", "--epsilon", 1, "--neighbours", "add-remove")
STEPS = ("--upper", 60, "--step", 1)
VALUE = (*ASKED, "--p", 90, *STEPS)


def test_without_labels_the_row_is_released(run, stays):
    ran = run("record", stays, *RECORD, "--json").json

    assert ran["answer"][0] in range(40)
    assert (ran["neighbours"], ran["exact"]) == ("substitute", True)


def test_a_dry_run_of_a_value_bounds_the_rank_error(run, stays):
    ran = run("percentile", stays, *VALUE, "--method", "one-by-one", "--dry-run", "--json")

    # One record more moves the 90th percentile's rank by at most 0.9.
    bound = pytest.approx(2 * 0.9 * 7.1066, abs=1e-3)
    assert ran.json["error_bound"] == {"value": bound, "unit": "ranks", "probability": 0.95}


def test_a_dry_run_says_the_error_in_units_of_the_column(run, stays):
    """The same in every run."""
    question = ["percentile", stays, *VALUE, "--dry-run", "--assumed-records", 3000, "--json"]
    sized, again = run(*question), run(*question)
    unsized = run("percentile", stays, *VALUE, "--dry-run", "--json")

    said = sized.json["error in days"]
    assert "with probability 0.95, assuming about 3,000 records of one of these shapes" in said
    assert again.json["error in days"] == said
    assert "give --assumed-records" in unsized.json["error in days"]
    assert "61 from 0 to 60, in units of days" in " ".join(run(*question[:-1]).out.split())


def test_a_percentile_that_is_given_twice_is_two(run, stays):
    """Before: the last one alone was released, at the whole price."""
    ran = run("percentile", stays, *ASKED, *STEPS, "--p", 25, "--p", 75, "--json")

    assert len(ran.json["answer"]) == 2


@pytest.mark.parametrize(
    "question", [("record", RECORD), ("percentile", (*VALUE, "--neighbours", "substitute"))]
)
def test_a_public_number_of_records_must_not_be_0(run, tmp_path, question):
    empty = tmp_path / "empty.csv"
    empty.write_text("name,days\n", encoding="utf-8")

    for dry_run in ((), ("--dry-run",)):
        ran = run(question[0], empty, *question[1], *dry_run)
        assert (ran.code, ran.error) == (2, "dpselect: there must be at least one record\n")


def test_the_largest_value_need_not_be_known(run, stays):
    ran = run(
        "percentile", stays, *ASKED, "--p", 90, "--step", 0.5, "--lower", "-inf",
        "--epsilon", 100, "--assumed-records", 40, "--json",
    )  # fmt: skip

    assert ran.json["answer"] == [17.0]
    assert "pieces of a range" in ran.json["mechanism"]


@pytest.mark.parametrize("engine", ["memory", "polars"])
def test_decimal_commas_are_read(run, tmp_path, engine):
    path = tmp_path / "commas.csv"
    path.write_text("days;ward\n" + "3,5;a\n 17,0 ;b\n" * 500 + "9.5;a\n1.000,5;a\n" * 900)
    more = ("--separator", ";", "--decimal", ",", "--engine", engine, "--json")

    ran = run("percentile", path, *VALUE, *more)
    kept = run("percentile", path, *VALUE, *more, "--where", "days > 3.4")

    assert ran.json["answer"] == kept.json["answer"] == [17.0]
    assert ran.json["decimal"] == ","


def test_a_release_says_which_method_the_number_of_records_chose(run, stays):
    question = ["percentile", stays, *VALUE]

    assert "chosen" in run(*question).out
    assert "AboveThreshold" in run(*question, "--json").json["chosen"]
    assert "chosen" not in run(*question, "--assumed-records", 40).out


def test_the_help_says_what_the_relations_protect(run):
    said = " ".join(run("percentile", "--help", columns=200).out.split())

    assert "add-remove hides whether any one is in the data" in said


def test_a_record_that_may_be_any_is_warned_of(run, stays):
    warned = run("record", stays, *RECORD, "--dry-run")
    better = ("--epsilon", 1000, "--mechanism", "local-dampening")
    sure = run("record", stays, *RECORD, *better, "--records", 40)

    assert (warned.code, "can be the whole range" in warned.error) == (0, True)
    assert "give --records" in warned.out
    # The largest error that there can be is no bound.
    assert run("record", stays, *RECORD, "--dry-run", "--json").json["error_bound"] is None
    assert (sure.code, sure.error) == (0, "")


@pytest.mark.parametrize(
    ("odd", "code"),
    [(b"424242,7", 0), (b"\xff424242", 0), (b'"424242', 2)],  # a stray quote is a public claim
    ids=["two-fields", "no-utf-8", "quote"],
)
def test_an_odd_line_is_repeated_nowhere(run, tmp_path, odd, code):
    path = tmp_path / "secret.csv"
    path.write_bytes(b"days\n424242\n" + odd + b"\n424242\n")
    ran = run("record", path, *RECORD)

    assert ran.code == code
    assert "424242" not in ran.out + ran.error


def test_several_percentiles_are_released_ascending(run, stays):
    question = ["percentile", stays, *ASKED, *STEPS, "--p", "25,50,75,90", "--json"]

    answer = run(*question, "--assumed-records", 3000).json
    one_by_one = run(*question, "--method", "one-by-one", "--dry-run").json

    assert answer["answer"] == sorted(answer["answer"])
    assert len(answer["answer"]) == 4
    assert "AboveThreshold from both ends" in answer["mechanism"]
    assert len(answer["spends"]) == 2  # the number of records, and the part that each is in
    assert len(one_by_one["spends"]) == 4
