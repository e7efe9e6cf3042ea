"""Ledgers on the command line: units, shares, periods, the same question, dry runs."""

import pytest

import dpselect as dp

CREATE = ("--create", "--epsilon", 3, "--neighbours", "add-remove")
TOP = ("--column", "kind", "--k", 1, "--candidates", "x,y", "--neighbours", "add-remove")


@pytest.fixture
def ask(run, stays, tmp_path):
    """Ask for the top kind of stays, with a ledger."""

    def call(*options, epsilon=1, **given):
        path = tmp_path / "clinic.budget"
        return run(
            "top", stays, *TOP, "--epsilon", epsilon, "--ledger", path, *options, **given
        )

    return call


@pytest.fixture
def create(run, tmp_path):
    """Make the ledger of ``ask``."""
    return lambda *terms: run("budget", tmp_path / "clinic.budget", *CREATE, *terms)


def opened(tmp_path):
    return dp.Budget.open(tmp_path / "clinic.budget")


def words(ran):
    return " ".join(ran.out.split())


TERMS = (
    "epsilon 3, delta 1e-06 in each month", "epsilons and deltas add up",
    "whether one patient with all rows is in the data at all (add-remove)",
    "declared public: at most 3 rows each", "at most 20.1, for one patient",
    "Declared public is that all data of one patient lie in one month.",
    "Ann: epsilon 1.5, delta 5e-07: spent 0, 1.5 is left", "all others: epsilon 0.5",
)  # fmt: skip


def test_a_ledger_states_its_terms(create, run, tmp_path):
    made = create(
        "--delta", 1e-6, "--protects", "patient", "--rows-per-person", 3, "--composition",
        "sum", "--share", "Ann=1.5", "--share", "Dr. Bo=1", "--period", "month",
        "--period-unit", "one-period",
    )  # fmt: skip
    totals = opened(tmp_path).totals

    assert made.code == 0
    assert totals.persons == dp.budget.Persons("patient", 3)
    assert totals.shares == (("Ann", 1.5), ("Dr. Bo", 1.0))
    assert totals.period == dp.budget.Period("month", "one-period")
    assert totals.composition == "sum"
    for shown in (words(made), words(run("budget", tmp_path / "clinic.budget"))):
        assert [one for one in TERMS if one not in shown] == []


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        (("--neighbours", "people"), "must be one of add-remove"),
        (("--epsilon", -1), "epsilon must be"),
        (("--rows-per-person", 3), "--rows-per-person goes with --protects"),
        (("--protects", "row", "--rows-per-person", 3), "goes with --protects"),
        (("--protects", "who", "--rows-per-person", 0), "rows must be at least 1"),
        (("--composition", "rdp"), "--composition must be one of sum, zcdp, either"),
        (("--share", "Ann"), "--share must be an analyst and an epsilon such as Ann=1.5"),
        (("--share", "=1"), "--share must name an analyst"),
        (("--share", "Ann=4"), "at most 3.0 together"),
        (("--period", "month"), "--period and --period-unit go together"),
        (("--period", "week", "--period-unit", "one-period"), "--period must be one of day"),
        (("--period", "day", "--period-unit", "x"), "--period-unit must be 'each-period' or"),
    ],
)
def test_terms_that_are_none_make_no_ledger(create, tmp_path, terms, message):
    ran = create(*terms)

    assert (ran.code, ran.out) == (2, "")
    assert message in ran.error
    assert not (tmp_path / "clinic.budget").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--create",), "--create needs --epsilon and --neighbours"),
        (("--epsilon", 1), "--epsilon goes with --create"),
        (("--protects", "who"), "--protects goes with --create"),
        ((), "there is no ledger"),
    ],
)
def test_a_ledger_is_made_where_that_is_asked(run, tmp_path, options, message):
    assert message in run("budget", tmp_path / "a.budget", *options).error
    assert not (tmp_path / "a.budget").exists()


def test_rows_in_a_ledger_of_persons_are_refused_with_the_cure(create, ask, tmp_path):
    create("--protects", "name")

    ran = ask()

    assert ran.code == 2
    assert "give --user name with --max-per-user, or make a budget that states" in ran.error
    assert opened(tmp_path).entries == ()
    assert ask("--user", "name", "--max-per-user", 1).code == 0


def test_persons_in_a_ledger_of_rows_are_refused_with_the_cure(create, ask):
    create()

    assert (
        "make a budget with --protects name" in ask("--user", "name", "--max-per-user", 1).error
    )


def test_rows_are_charged_for_all_rows_of_a_person(create, ask, run, tmp_path):
    create("--protects", "name", "--rows-per-person", 2)
    shown = words(ask("--dry-run"))
    asked = words(ask())
    page = tmp_path / "report.html"
    run("report", tmp_path / "clinic.budget", "--out", page)

    for text in (shown, asked):
        assert (
            "epsilon 1 (add-remove neighbours), and is charged for 2 rows of one name" in text
        )
    assert opened(tmp_path).remaining == 1.0
    text = page.read_text(encoding="utf-8")
    assert "asked by rows, and charged for the 2 rows of one name" in text
    assert "epsilon 2, for one name: odds change by a factor of at most 7.39" in text
    assert "for 2 rows" in words(run("budget", tmp_path / "clinic.budget"))


def test_the_same_question_is_answered_by_its_entry(create, ask, stays, tmp_path):
    create()
    first = ask("--json").json
    stays.write_text("name,days,kind\n", encoding="utf-8")
    second, shown = ask("--json").json, words(ask(columns=500))

    assert (first["repeated"], second["repeated"]) == (False, True)
    assert second["answer"] == first["answer"]
    assert second["recorded"] == first["recorded"]
    assert f"entry 1 of {tmp_path / 'clinic.budget'}: nothing was spent; --again" in shown
    assert opened(tmp_path).remaining == 2.0


def test_again_another_version_and_other_rows_are_drawn_and_paid(create, ask, run, tmp_path):
    create()
    for more in ((), ("--again",), ("--source-version", "May"), ("--where", "days >= 3")):
        assert ask(*more, "--json", epsilon=0.5).json["repeated"] is False

    assert [entry.source_version for entry in opened(tmp_path).entries] == ["", "", "May", ""]
    assert opened(tmp_path).remaining == 1.0
    assert "May" in run("budget", tmp_path / "clinic.budget").out


def test_a_file_is_known_by_its_way_from_the_ledger(create, ask, run, tmp_path, monkeypatch):
    """Of two files of one name, the second is not answered by the first."""
    create()
    ask(epsilon=0.5)
    other = tmp_path / "other"
    other.mkdir()
    (other / "stays.csv").write_text("name,days,kind\na,1,y\n", encoding="utf-8")
    found = []
    for folder in (tmp_path, other):
        monkeypatch.chdir(folder)
        path = tmp_path / "clinic.budget"
        ran = run("top", "stays.csv", *TOP, "--epsilon", 0.5, "--ledger", path, "--json")
        found.append(ran.json["repeated"])

    assert found == [True, False]
    assert [entry.source for entry in opened(tmp_path).entries] == [
        "stays.csv",
        "other/stays.csv",
    ]


def test_a_dry_run_says_what_fits_afterwards(create, ask, tmp_path):
    create()

    assert "would remain 2 once more it fits" in words(ask("--dry-run"))
    assert "once more it fits with --epsilon 0.75" in words(ask("--dry-run", epsilon=2.25))
    assert "once more it does not fit" in words(ask("--dry-run", epsilon=3))
    after = ask("--dry-run", "--json", epsilon=2.25).json
    assert (after["remaining_budget"], after["fits_again"]) == (0.75, False)
    assert after["largest_epsilon"] == 0.75
    assert opened(tmp_path).entries == ()


def test_a_dry_run_that_is_refused_says_what_fits(create, ask):
    create()
    ask(epsilon=2.5)
    ran = ask("--dry-run")

    assert (ran.code, ran.out) == (2, "")
    assert "requested 1.0, remaining 0.5; --epsilon 0.5 fits" in ran.error
    ask(epsilon=0.5)
    assert "remaining 0.0; it fits with no --epsilon" in ask("--dry-run").error


def test_a_dry_run_says_which_entry_would_answer(create, ask):
    create()
    ask()
    shown = ask("--dry-run")

    assert "would spend nothing: entry 1 answers it; epsilon 1 (add-remove" in words(shown)
    assert "would remain 2" in words(shown)
    assert ask("--dry-run", "--json").json["answered_by"] == 1
    assert ask("--dry-run", "--json", "--again").json["answered_by"] is None


def test_each_analyst_spends_a_share(create, ask, run, tmp_path):
    create("--share", "Ann=1", "--share", "Bob=1")

    assert ask("--analyst", "Ann").code == 0
    assert ask("--analyst", "Ann", "--again").code == 2
    # Of what another was answered nothing is spent again.
    assert words(ask("--analyst", "Bob", columns=500)).count("nothing was spent") == 1
    assert ask("--analyst", "Bob", "--again").code == 0
    assert [entry.share for entry in opened(tmp_path).entries] == ["Ann", "Bob"]
    shown = words(run("budget", tmp_path / "clinic.budget"))
    assert "all others: epsilon 1: spent 0, 1 is left" in shown
    assert "own share" in shown


SHOWN = (
    "whether one name with all rows is in the data at all", "the share of Ann, 20",
    "for one name, by a factor of at most <b>20.1</b>", "max_per_user = 1",
    "those of the year of now by at most <b>2.72</b>", "kind 0, kind 1, kind 2",
    "Protected is what one name has in one year: who has data in n years is protected",
    "<dt>Ann</dt><dd>epsilon 1: spent 1, 0 is left", "kind 498, kind 499",
    "3000 values from kind 0 to kind 2999 (SHA-256 of their JSON",
    "whole in the folder clinic.budget.lists",
)  # fmt: skip


def test_a_report_shows_shares_periods_and_lists(create, run, stays, tmp_path):
    create("--protects", "name", "--share", "Ann=1", "--period", "year", "--period-unit",
           "each-period")  # fmt: skip
    for number in (500, 3000):
        kinds = tmp_path / f"{number}.txt"
        kinds.write_text("\n".join(f"kind {n}" for n in range(number)), encoding="utf-8")
        ran = run(
            "top", stays, "--column", "kind", "--k", 1, "--candidates", kinds,
            "--neighbours", "add-remove", "--user", "name", "--max-per-user", 1,
            "--epsilon", 0.5, "--ledger", tmp_path / "clinic.budget", "--analyst", "Ann",
        )  # fmt: skip
        assert ran.code == 0, ran.error
    page = tmp_path / "report.html"
    run("report", tmp_path / "clinic.budget", "--out", page)
    text = page.read_text(encoding="utf-8")

    assert [one for one in SHOWN if one not in text] == []
    for file in (tmp_path / "clinic.budget.lists").iterdir():
        file.write_text("[]", encoding="utf-8")
    run("report", tmp_path / "clinic.budget", "--out", page)
    assert page.read_text(encoding="utf-8").count("which its file does not hold") == 2
