"""The commands that compare designs, write worksheets and decode pooled tests."""

import stat

import pytest

import dpselect as dp
from dpselect_pooling.command import rounded_up

PLAN = ("pool", "plan", "--n", 40, "--d", 2, "--trials", 20)


@pytest.fixture
def samples(tmp_path):
    path = tmp_path / "samples.csv"
    path.write_text("sample\n" + "\n".join(f"S{i}" for i in range(12)), encoding="utf-8")
    return path


@pytest.fixture
def array(run, samples, tmp_path):
    """Worksheets of twelve samples in rows and columns."""
    out = tmp_path / "monday"
    ran = run(
        "pool", "worksheet", samples, "--design", "array", "--rows", 3, "--columns", 4,
        "--out", out,
    )  # fmt: skip
    assert ran.code == 0, ran.error
    return out


def results(tmp_path, positive=(), invalid=(), pools=7):
    path = tmp_path / "results.csv"
    lines = [
        f"P{t:04d},{'positive' if t in positive else 'invalid' if t in invalid else 'negative'}"
        for t in range(1, pools + 1)
    ]
    path.write_text("pool,result\n" + "\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_comparison_is_a_table(run):
    ran = run(*PLAN)

    assert ran.code == 0
    for word in ("design", "doubly balanced", "retests", "40 people", "then fewest tests"):
        assert word in ran.out
    assert max(map(len, run(*PLAN, columns=80).out.splitlines()[:-1])) <= 80


@pytest.mark.slow
def test_a_comparison_has_one_row_of_each_design_the_best_one(run):
    rows = [line.rsplit(maxsplit=6) for line in run(*PLAN, columns=80).out.splitlines()]
    table = [(row[0].strip(), row[2]) for row in rows if len(row) == 7 and row[-1] == "0.00"]

    best = {}
    for one in run(*PLAN, "--json").json["designs"]:
        best.setdefault(one["name"], str(one["pools"]))
    assert table == list(best.items())[: len(table)]
    assert len(table) == 12


@pytest.mark.slow
@pytest.mark.parametrize("cap", [5, 16])
def test_the_next_command_writes_the_best_design(run, samples, tmp_path, cap):
    ran = run("pool", "plan", "--n", 12, "--prevalence", 0.1, "--trials", 20,
              "--max-pool-size", cap)  # fmt: skip
    command = ran.out.splitlines()[-1].removeprefix("next: dpselect ")
    words = command.replace("SAMPLES.csv", str(samples)).replace("FOLDER", str(tmp_path / "x"))
    written = run(*words.split())

    assert written.code == 0, written.error
    assert (tmp_path / "x" / "collector-plates.html").exists()


@pytest.mark.slow
def test_a_comparison_is_json_without_infinities(run, tmp_path):
    ran = run(*PLAN, "--json", "--plot", tmp_path / "plan.png")

    assert ran.json["designs"][0]["epsilon"] is None
    assert "Infinity" not in ran.out
    assert (tmp_path / "plan.png").stat().st_size > 0


@pytest.mark.slow
def test_a_private_comparison_states_its_epsilon(run):
    ran = run(*PLAN, "--epsilon", 2, "--neighbours", "swap", "--json")

    assert {design["epsilon"] for design in ran.json["designs"]} == {2.0}


def test_worksheets_are_written_and_results_decoded(run, array, tmp_path):
    ran = run(
        "pool", "decode", results(tmp_path, positive=(2, 5)),
        "--worksheet", array / "collector.csv", "--out", tmp_path / "report.csv", "--json",
    )  # fmt: skip

    positive = [row["sample"] for row in ran.json["samples"] if row["positive"]]
    assert positive == ["S5"]
    assert stat.S_IMODE((tmp_path / "report.csv").stat().st_mode) == 0o600


def test_samples_to_test_again_are_listed(run, array, tmp_path):
    ran = run(
        "pool", "decode", results(tmp_path, positive=(1, 2, 4, 5)),
        "--worksheet", array / "collector.csv",
    )  # fmt: skip

    assert "test again  S0, S1, S4, S5" in ran.out


def test_invalid_pools_are_left_out(run, array, tmp_path):
    ran = run(
        "pool", "decode", results(tmp_path, positive=(2,), invalid=(5,)),
        "--worksheet", array / "collector.csv", "--method", "belief-propagation",
        "--prevalence", 0.05, "--json",
    )  # fmt: skip

    row = ran.json["samples"][5]
    assert row["posterior"] == pytest.approx(1, abs=1e-3)


def test_an_assay_that_errs_is_decoded_by_belief_unless_told_otherwise(run, array, tmp_path):
    errs = ("--sensitivity", 0.95, "--prevalence", 0.05, "--json")
    sheet = ("--worksheet", array / "collector.csv")
    ran = run("pool", "decode", results(tmp_path, positive=(2,)), *sheet, *errs)
    exact = run("pool", "decode", results(tmp_path, positive=(2,)), *sheet, "--json")

    assert ran.json["method"] == "belief-propagation"
    assert exact.json["method"] == "scomp"


def test_the_file_of_the_lab_has_a_result_to_fill_in(run, array):
    lab = array / "lab.csv"
    lines = lab.read_text("utf-8").splitlines()
    filled = [lines[0], *(line + "not detected" for line in lines[1:])]
    empty = run("pool", "decode", lab, "--worksheet", array / "collector.csv")
    lab.write_text("\n".join(filled), "utf-8")
    ran = run("pool", "decode", lab, "--worksheet", array / "collector.csv")

    assert lines[0] == "pool,pool_plate,pool_well,result"
    assert "S11" in empty.out
    assert [line.split() for line in ran.out.splitlines()[1:]] == [
        ["positive", "none"],
        ["test", "again", "none"],
    ]


@pytest.mark.slow
def test_replaced_vials_are_secret_and_charged(run, samples, tmp_path):
    ledger = tmp_path / "clinic.budget"
    dp.Budget(1.0, delta=0.95, neighbours=dp.Neighbours.SWAP, composition="sum", path=ledger)
    arguments = (
        "pool", "worksheet", samples, "--pools", 8, "--weight", 2, "--replace", 3,
        "--ledger", ledger, "--json",
    )  # fmt: skip
    ran = run(*arguments, "--out", tmp_path / "a")

    secret = tmp_path / "a" / "SECRET-replace-these-vials.csv"
    assert ran.code == 0
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    (entry,) = dp.Budget.open(ledger).entries
    assert (entry.epsilon, entry.delta) == (0.0, 0.75)
    assert "delta 0.75" in run("budget", ledger).out
    for more in ((), ("--dry-run",)):
        assert run(*arguments, "--out", tmp_path / "b", *more).code == 2
    assert not (tmp_path / "b").exists()
    decoded = run(
        "pool", "decode", results(tmp_path, pools=8),
        "--worksheet", tmp_path / "a" / "collector.csv", "--secret", secret, "--json",
    )  # fmt: skip
    assert sum(row["retest"] for row in decoded.json["samples"]) == 3


def test_a_ledger_is_not_spent_from_for_nothing(run, samples, tmp_path):
    ledger = tmp_path / "clinic.budget"
    dp.Budget(1.0, delta=0.95, neighbours=dp.Neighbours.SWAP, composition="sum", path=ledger)
    ran = run(
        "pool", "worksheet", samples, "--pools", 8, "--weight", 2, "--ledger", ledger,
        "--out", tmp_path / "x",
    )  # fmt: skip

    assert ran.code == 2
    assert "without --replace" in ran.error


def test_exchanged_pools_are_secret_charged_and_left_out(run, samples, tmp_path):
    ledger = tmp_path / "clinic.budget"
    dp.Budget(20.0, neighbours=dp.Neighbours.SUBSTITUTE, path=ledger)
    arguments = (
        "pool", "worksheet", samples, "--design", "dorfman", "--pool-size", 1,
        "--clean", 0.3, "--contaminated", 0.3, "--ledger", ledger, "--json",
    )  # fmt: skip
    planned = run(*arguments, "--d", 2, "--out", tmp_path / "a", "--dry-run").json
    ran = run(*arguments, "--out", tmp_path / "a")

    secret = tmp_path / "a" / "SECRET-exchange-these-pools.csv"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert planned["epsilon"] == dp.Budget.open(ledger).entries[0].epsilon < 1
    assert "COMP that allows 0 negative pools" in planned["error_bound"]["unit"]
    assert "does not collude" in ran.json["lab_sees"]
    exchanged = {line.split(",")[0] for line in secret.read_text().splitlines()[1:]}
    decoded = run(
        "pool", "decode", results(tmp_path, pools=12, positive=range(1, 13)),
        "--worksheet", tmp_path / "a" / "collector.csv", "--secret", secret, "--json",
    )  # fmt: skip
    doubtful = {
        f"P{i + 1:04d}" for i, row in enumerate(decoded.json["samples"]) if row["retest"]
    }
    assert doubtful == exchanged


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--clean", 0.1), "some outcomes are certain"),
        (("--replace", 1, "--clean", 0.1), "does not go with"),
        (("--epsilon", 1), "goes with --clean"),
        (("--replace", 3, "--d", 2), "finds 0 positives for certain"),
    ],
)
def test_noise_that_does_not_fit_is_refused(run, samples, tmp_path, more, says):
    ran = run(
        "pool", "worksheet", samples, "--design", "dorfman", "--pool-size", 4, *more,
        "--out", tmp_path / "x",
    )  # fmt: skip

    assert ran.code == 2
    assert says in ran.error
    assert not (tmp_path / "x").exists()


def test_a_certain_design_counts_the_replaced_vials(run, samples, tmp_path):
    arguments = ("pool", "worksheet", samples, "--design", "kautz-singleton", "--d", 1)
    ran = run(*arguments, "--replace", 1, "--out", tmp_path / "x", "--json")

    assert ran.json["positives_found_for_certain"] >= 2


def test_a_folder_in_use_costs_nothing(run, samples, array, tmp_path):
    ledger = tmp_path / "clinic.budget"
    dp.Budget(1.0, delta=0.95, neighbours=dp.Neighbours.SWAP, composition="sum", path=ledger)
    ran = run(
        "pool", "worksheet", samples, "--pools", 8, "--weight", 2, "--replace", 3,
        "--ledger", ledger, "--out", array,
    )  # fmt: skip

    assert ran.code == 2
    assert "worksheets already" in ran.error
    assert dp.Budget.open(ledger).entries == ()


def test_a_dry_run_writes_nothing(run, samples, tmp_path):
    ran = run(
        "pool", "worksheet", samples, "--design", "dorfman", "--pool-size", 4,
        "--out", tmp_path / "x", "--dry-run", "--json",
    )  # fmt: skip

    assert ran.json["pools"] == 3
    assert not (tmp_path / "x").exists()


def test_a_dry_run_states_what_replaced_vials_would_cost(run, samples, tmp_path):
    ledger = tmp_path / "clinic.budget"
    dp.Budget(1.0, delta=0.95, neighbours=dp.Neighbours.SWAP, composition="sum", path=ledger)
    arguments = (
        "pool", "worksheet", samples, "--design", "dorfman", "--pool-size", 4,
        "--replace", 3, "--ledger", ledger, "--out", tmp_path / "x", "--dry-run",
    )  # fmt: skip
    told = run(*arguments)
    as_json = run(*arguments, "--json").json

    assert "largest pool" in told.out
    assert "delta 0.75 (swap neighbours)" in told.out
    assert (as_json["delta"], as_json["neighbours"]) == (0.75, "swap")
    assert as_json["arguments"] == {"people": 12, "beta": 3}
    assert not (tmp_path / "x").exists()
    assert dp.Budget.open(ledger).entries == ()


def test_a_ledger_of_another_relation_is_refused(run, samples, tmp_path):
    ledger = tmp_path / "clinic.budget"
    dp.Budget(
        1.0, delta=0.95, neighbours=dp.Neighbours.SUBSTITUTE, composition="sum", path=ledger
    )
    for more in ((), ("--dry-run",)):
        ran = run(
            "pool", "worksheet", samples, "--design", "dorfman", "--pool-size", 4,
            "--replace", 3, "--ledger", ledger, "--out", tmp_path / "x", *more,
        )  # fmt: skip

        assert ran.code == 2
        assert "swap" in ran.error
        assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--delta", 0.1), "--delta goes with --epsilon"),
        (("--neighbours", "edges"), "--neighbours must be"),
        (("--epsilon", 1, "--neighbours", "edge"), "'substitute'"),
    ],
)
def test_bad_comparisons_are_one_clear_line(run, arguments, says):
    ran = run(*PLAN, *arguments)

    assert ran.code == 2
    assert says in ran.error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--design", "balanced", "--pools", 5), "needs --weight"),
        (("--design", "dorfman", "--pool-size", 3, "--pools", 5), "--pools does not go with"),
        (("--design", "star"), "--design must be one of"),
        (
            ("--design", "balanced", "--pools", 4, "--weight", 2, "--max-pool-size", 3),
            "at least 8 pools",
        ),
        (("--design", "dorfman", "--pool-size", 6, "--max-pool-size", 3), "--max-pool-size 3"),
        (("--design", "dorfman", "--pool-size", 6, "--wells", 24), "--wells must be 96 or 384"),
        (("--design", "dorfman", "--pool-size", 6, "--replace", 13), "beta must be at most"),
        (("--design", "dorfman", "--pool-size", 6, "--seed", -1), "--seed"),
    ],
)
def test_bad_worksheets_are_one_clear_line(run, samples, tmp_path, arguments, says):
    ran = run("pool", "worksheet", samples, "--out", tmp_path / "x", *arguments)

    assert ran.code == 2
    assert says in ran.error
    assert not (tmp_path / "x").exists()


def test_bad_results_are_one_clear_line(run, array, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("pool,result\nP0001,pos\nP0001,pos\n", encoding="utf-8")
    ran = run("pool", "decode", path, "--worksheet", array / "collector.csv")

    assert ran.code == 2
    assert "line 3" in ran.error


@pytest.mark.parametrize(
    ("flip", "shown"), [(0.25, "0.25"), (0.12341, "0.1235"), (1.0001e-17, "1.001e-17")]
)
def test_a_flip_is_printed_rounded_up_with_significant_digits(flip, shown):
    """Before: 0.123 for 0.12341, which costs more than was stated, and 0.000 below 0.0005."""
    assert rounded_up(flip) == shown
    assert float(rounded_up(flip)) >= flip
