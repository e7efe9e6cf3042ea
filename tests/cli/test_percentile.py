"""The commands that release percentiles, and the record at one."""

import polars as pl
import pytest

import dpselect as dp
from dpselect.mechanisms import MECHANISMS

RECORD = ("--column", "days", "--p", 90, "--upper", 60, "--epsilon", 1)
ASKED = ("--column", "days", "--epsilon", 1, "--neighbours", "add-remove")
STEPS = ("--upper", 60, "--step", 1)
VALUE = (*ASKED, "--p", 90, *STEPS)


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "clinic.budget"
    dp.Budget(1.5, neighbours=dp.Neighbours.SUBSTITUTE, path=path)
    return path


def test_a_record_is_released_from_the_labels(run, stays):
    ran = run("record", stays, *RECORD, "--label", "name", "--json")

    assert ran.code == 0
    assert ran.json["answer"][0] in {f"ward {i}" for i in range(40)}
    assert (ran.json["epsilon"], ran.json["neighbours"]) == (1.0, "substitute")
    assert ran.json["exact"] is True


def test_without_labels_the_row_is_released(run, stays):
    assert run("record", stays, *RECORD, "--json").json["answer"][0] in range(40)


def test_parquet_and_csv_are_the_same_data(run, stays, tmp_path):
    parquet = tmp_path / "stays.parquet"
    pl.read_csv(stays).write_parquet(parquet)

    ran = run("record", parquet, *RECORD, "--epsilon", 500, "--json")
    same = run("record", stays, *RECORD, "--epsilon", 500, "--json")

    assert ran.code == 0
    assert ran.json["mechanism"] == same.json["mechanism"]


def test_a_large_epsilon_finds_the_value(run, stays):
    ran = run("percentile", stays, *VALUE, "--epsilon", 1000, "--json")

    days = sorted(i % 20 for i in range(40) if i != 7)
    assert ran.json["answer"] == [days[34]]
    assert ran.json["neighbours"] == "add-remove"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("exponential", "ExponentialMechanism"),
        ("permute-and-flip", "PermuteAndFlip"),
        ("noisy-max", "ReportNoisyMax"),
        ("local-dampening", "LocalDampening"),
        ("shifted", "ShiftedLocalDampening"),
        ("anchored", "AnchoredLocalDampening"),
        ("pairwise", "PairwiseLocalDampening"),
        ("generalized", "GeneralizedExponential"),
    ],
)
def test_a_mechanism_is_chosen_by_name(run, stays, name, kind):
    ran = run("record", stays, *RECORD, "--mechanism", name, "--json")

    assert ran.json["mechanism"].startswith(f"{kind}(")


def test_people_are_told_what_they_sign_for(run, stays, ledger):
    ran = run("record", stays, *RECORD, "--ledger", ledger)

    for word in ("record", "epsilon", "1 (substitute neighbours)", "exactly", "0.5"):
        assert word in ran.out


def test_the_ledger_is_spent_and_then_refuses(run, stays, ledger):
    first = run("record", stays, *RECORD, "--ledger", ledger, "--json")
    second = run("record", stays, *RECORD, "--ledger", ledger, "--json", "--again")

    assert first.json["remaining_budget"] == 0.5
    assert (second.code, second.out) == (2, "")
    assert "total 1.5, spent 1.0, requested 1.0, remaining 0.5" in second.error
    assert len(dp.Budget.open(ledger).entries) == 1


def test_a_dry_run_spends_nothing(run, stays, ledger):
    ran = run("record", stays, *RECORD, "--ledger", ledger, "--dry-run", "--json")

    assert ran.json["remaining_budget"] == 0.5
    # The largest error that there can be is no bound.
    assert ran.json["error_bound"] is None
    assert ran.json["neighbours"] == "substitute"
    assert not dp.Budget.open(ledger).entries


def test_a_dry_run_reads_no_private_value(run, stays):
    before = run("record", stays, *RECORD, "--dry-run").out
    text = stays.read_text(encoding="utf-8")
    stays.write_text(text.replace(",3,", ",59,").replace(",11,", ",,"), encoding="utf-8")

    assert run("record", stays, *RECORD, "--dry-run").out == before


def test_a_dry_run_of_a_value_bounds_the_rank_error(run, stays):
    ran = run("percentile", stays, *VALUE, "--method", "one-by-one", "--dry-run", "--json")

    assert ran.json["error_bound"]["unit"] == "ranks"
    # One record more moves the 90th percentile's rank by at most 0.9.
    assert ran.json["error_bound"]["value"] == pytest.approx(2 * 0.9 * 7.1066, abs=1e-3)


def test_a_dry_run_says_the_error_in_units_of_the_column(run, stays):
    """The same in every run."""
    question = ["percentile", stays, *VALUE, "--dry-run", "--assumed-records", 3000, "--json"]
    sized, again = run(*question), run(*question)
    unsized = run("percentile", stays, *VALUE, "--dry-run", "--json")

    said = sized.json["error in days"]
    assert "with probability 0.95, assuming about 3,000 records of one of these shapes" in said
    assert again.json["error in days"] == said
    assert "give --assumed-records" in unsized.json["error in days"]


def test_a_dry_run_refuses_what_the_release_would(run, stays, ledger):
    too_much = run("record", stays, *RECORD, "--epsilon", 2, "--ledger", ledger, "--dry-run")
    other = run("percentile", stays, *VALUE, "--ledger", ledger, "--dry-run")

    assert too_much.code == other.code == 2
    assert "remaining 1.5" in too_much.error
    assert "add-remove" in other.error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--epsilon", 0), "epsilon must be finite and > 0"),
        (("--epsilon", "nan"), "epsilon must be finite and > 0"),
        (("--epsilon", "x"), "--epsilon must be a number"),
        (("--upper", -1), "upper must be finite and > 0"),
        (("--column", "day"), "there is no column 'day'; did you mean 'days'? the columns are"),
        (("--column", "kind", "--on-invalid", "raise"), "a value is missing"),
        (("--label", "nobody"), "there is no column 'nobody'"),
        (("--mechanism", "best"), "mechanism must be one of exponential"),
        (("--neighbours", "add-remove"), "o such option: --neighbours"),
        (("--records", 39), "another number of records than --records"),
        (("--records", 0), "--records must be at least 1"),
        (("--on-invalid", "raise"), "a value is missing"),
        (("--ledger", "nowhere.budget"), "there is no ledger at"),
    ],
)
def test_a_wrong_argument_is_one_clear_line(run, stays, arguments, message):
    ran = run("record", stays, *RECORD, *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert ran.error.startswith("dpselect: ")
    assert ran.error.count("\n") == 1
    assert message in ran.error


@pytest.mark.parametrize(
    ("p", "message"), [(0, "p must be"), (101, "p must be between 0 and 100")]
)
def test_a_percentile_that_is_none_is_one_clear_line(run, stays, p, message):
    asked = ("--column", "days", "--upper", 60, "--step", 1, "--epsilon", 1)

    ran = run("percentile", stays, *asked, "--neighbours", "add-remove", "--p", p)

    assert (ran.code, ran.out, message in ran.error) == (2, "", True)


def test_a_percentile_that_is_given_twice_is_two(run, stays):
    """Before: the last one alone was released, at the whole price."""
    asked = ("--column", "days", "--upper", 60, "--step", 1, "--epsilon", 1, "--json")

    ran = run("percentile", stays, *asked, "--neighbours", "add-remove", "--p", 25, "--p", 75)

    assert len(ran.json["answer"]) == 2


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        (RECORD, ("--epsilon", 0)),
        (RECORD, ("--p", 101)),
        (RECORD, ("--upper", -1)),
        (RECORD, ("--column", "day")),
        (RECORD, ("--label", "nobody")),
        (RECORD, ("--records", 39)),
        (RECORD, ("--mechanism", "best")),
        (VALUE, ("--epsilon", 0)),
        (VALUE, ("--p", 0)),
        (VALUE, ("--column", "day")),
        (VALUE, ("--mechanism", "best")),
        (VALUE, ("--neighbours", "edge")),
        (VALUE, ("--ledger", "nowhere.budget")),
    ],
)
def test_a_dry_run_fails_as_the_release_does(run, stays, question, arguments):
    command = "record" if question is RECORD else "percentile"
    released = run(command, stays, *question, *arguments)
    dry = run(command, stays, *question, *arguments, "--dry-run")

    assert (dry.code, dry.out, dry.error) == (2, "", released.error)


@pytest.mark.parametrize(
    "question", [("record", RECORD), ("percentile", (*VALUE, "--neighbours", "substitute"))]
)
def test_a_public_number_of_records_must_not_be_0(run, tmp_path, question):
    empty = tmp_path / "empty.csv"
    empty.write_text("name,days\n", encoding="utf-8")

    for dry_run in ((), ("--dry-run",)):
        ran = run(question[0], empty, *question[1], *dry_run)
        assert (ran.code, ran.error) == (2, "dpselect: there must be at least one record\n")


@pytest.mark.parametrize("command", ["percentile", "record"])
def test_the_help_names_every_mechanism(run, command):
    words = run(command, "--help").out.replace("\u2502", " ").split()

    assert set(MECHANISMS) <= {word.strip(",;.") for word in words}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*ASKED, "--p", 90), "give --step"),
        (("--column", "days", "--epsilon", 1, "--p", 90, *STEPS), "give --neighbours"),
        ((*ASKED, *STEPS), "give --p"),
        ((*ASKED, *STEPS, "--p", 0.9), "--p 0.9 is a percentile below 1: give 90 for"),
        ((*ASKED, *STEPS, "--p", "half"), "--p must be a number, or several"),
        ((*VALUE, "--lower", "some"), "--lower must be a number, a date"),
        ((*VALUE, "--lower", 90), "--upper must be finite and above --lower"),
        ((*VALUE, "--candidates", "1,2"), "--candidates replace the range: leave out --lower"),
        ((*VALUE, "--user", "name"), "--user and --max-per-user go together"),
        ((*VALUE, "--user", "days", "--max-per-user", 1), "cannot be the user and the number"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_named(run, stays, arguments, message):
    for dry_run in ((), ("--dry-run",)):
        ran = run("percentile", stays, *arguments, *dry_run)

        assert (ran.code, ran.out) == (2, "")
        assert message in " ".join(ran.error.split())


def test_values_can_be_listed(run, stays):
    ran = run("percentile", stays, *ASKED, "--p", 90, "--candidates", "0,17.5,60", "--json")

    assert ran.json["arguments"]["candidates"] == [0, 17.5, 60]
    assert ran.json["answer"][0] in {0, 17.5, 60}


def test_the_largest_value_need_not_be_known(run, stays):
    ran = run(
        "percentile", stays, *ASKED, "--p", 90, "--step", 0.5, "--lower", "-inf",
        "--epsilon", 100, "--assumed-records", 40, "--json",
    )  # fmt: skip

    assert ran.json["answer"] == [17.0]
    assert "pieces of a range" in ran.json["mechanism"]


def test_persons_are_protected_by_their_column(run, stays):
    ran = run("percentile", stays, *VALUE, "--user", "name", "--max-per-user", 2, "--json")

    assert ran.json["arguments"]["user"] == "name"
    assert ran.json["arguments"]["max_per_user"] == 2


def test_a_dry_run_says_what_can_be_released_and_the_error(run, stays):
    ran = run("percentile", stays, *VALUE, "--assumed-records", 4000, "--dry-run")

    text = " ".join(ran.out.split())
    assert "61 from 0 to 60, in units of days" in text
    assert "if there are 4,000 records" in text


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_text_file_says_that_other_fields_count_as_missing(run, tmp_path, more):
    path = tmp_path / "commas.csv"
    path.write_text("days;ward\n3,5;a\n4;b\n")
    ran = run("percentile", path, *VALUE, "--separator", ";", *more)

    said = " ".join(ran.out.split())
    assert "fields of days that are not numbers, such as '3,5', are treated as missing" in said
    assert "--decimal ',' reads decimal commas" in said


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


def test_all_that_is_missing_is_named_at_once(run, stays):
    said = run("percentile", stays).error

    assert said.index("give --p (") < said.index(", --epsilon (") < said.index(" and --neigh")


def test_a_record_that_may_be_any_is_warned_of(run, stays):
    warned = run("record", stays, *RECORD, "--dry-run")
    better = ("--epsilon", 1000, "--mechanism", "local-dampening")
    sure = run("record", stays, *RECORD, *better, "--records", 40)

    assert (warned.code, "can be the whole range" in warned.error) == (0, True)
    assert "give --records" in warned.out
    assert (sure.code, sure.error) == (0, "")


@pytest.mark.parametrize("name", ["missing.csv", "stays.txt", "broken.parquet"])
def test_an_unreadable_file_is_named(run, tmp_path, name):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "stays.txt").write_text("days\n1\n", encoding="utf-8")
    ran = run("record", tmp_path / name, *RECORD)

    assert ran.code == 2
    assert name in ran.error


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
