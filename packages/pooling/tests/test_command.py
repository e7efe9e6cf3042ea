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


def results(tmp_path, pools, result):
    path = tmp_path / "results.csv"
    lines = (f"P{t:04d},{result}\n" for t in range(1, pools + 1))
    path.write_text("pool,result\n" + "".join(lines), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_comparison_has_one_row_of_each_design_the_best_one(run, tmp_path):
    rows = [line.rsplit(maxsplit=6) for line in run(*PLAN, columns=80).out.splitlines()]
    table = [(row[0].strip(), row[2]) for row in rows if len(row) == 7 and row[-1] == "0.00"]

    told = run(*PLAN, "--json", "--plot", tmp_path / "plan.png")
    assert "Infinity" not in told.out
    assert told.json["designs"][0]["epsilon"] is None
    assert (tmp_path / "plan.png").stat().st_size > 0
    best = {}
    for one in told.json["designs"]:
        best.setdefault(one["name"], str(one["pools"]))
    assert table == list(best.items())[: len(table)]
    assert len(table) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    "private",
    [
        (),
        ("--epsilon", 3),
        ("--epsilon", 1, "--delta", 0.01),
        ("--epsilon", 2, "--neighbours", "swap"),
        ("--epsilon", 0.5, "--delta", 0.001, "--neighbours", "swap"),
    ],
    ids=str,
)
@pytest.mark.parametrize("cap", [5, 16])
def test_the_next_command_keeps_what_was_asked_for(run, samples, tmp_path, cap, private):
    """Every printed command is run; the worksheets of private outcomes cost no more."""
    asked = dict(zip(private[::2], private[1::2], strict=True))
    relation = asked.get("--neighbours", "substitute")
    ran = run("pool", "plan", "--n", 12, "--prevalence", 0.1, "--trials", 20,
              "--max-pool-size", cap, *private)  # fmt: skip
    command = ran.out.splitlines()[-1].removeprefix("next: dpselect ")
    ledger = tmp_path / "lab.budget"
    dp.Budget(9.0, delta=0.1, neighbours=relation, path=ledger)
    paths = {"SAMPLES.csv": samples, "FOLDER": tmp_path / "x", "LEDGER": ledger}
    for name, path in paths.items():
        command = command.replace(name, str(path))
    written = run(*command.split())

    assert written.code == 0, written.error
    assert (tmp_path / "x" / "collector-plates.html").exists()
    spent = dp.Budget.open(ledger).entries
    assert len(spent) == bool(private)
    for entry in spent:
        assert 0.99 * asked["--epsilon"] < entry.epsilon <= asked["--epsilon"]
        assert entry.delta <= asked.get("--delta", 0.0)


def test_retests_are_taken_back(run, samples, tmp_path):
    """Whoever is still in doubt is positive for nobody, and neither negative."""
    sheet = ("--design", "array", "--rows", 3, "--columns", 4, "--out", tmp_path / "monday")
    assert run("pool", "worksheet", samples, *sheet).code == 0
    found = tmp_path / "results.csv"
    words = ["positive" if t in {1, 2, 4, 5} else "negative" for t in range(1, 8)]
    lines = [f"P{t:04d},{word}" for t, word in enumerate(words, 1)]
    found.write_text("\n".join(["pool,result", *lines]), "utf-8")
    retested = tmp_path / "retests.csv"
    retested.write_text("sample,result\nS0,+\nS1,negative\nS4,0\nS5,invalid\n", "utf-8")
    arguments = ("pool", "decode", found, "--worksheet", tmp_path / "monday" / "collector.csv")
    report = tmp_path / "report.csv"
    before = run(*arguments, "--json").json["samples"]
    after = run(*arguments, "--retests", retested, "--out", report, "--json").json["samples"]
    retested.write_text("sample,result\nS99,+\n", "utf-8")
    unknown = run(*arguments, "--retests", retested)

    doubtful = [row["sample"] for row in before if row["status"] == "retest"]
    assert doubtful == ["S0", "S1", "S4", "S5"]
    assert [row["status"] for row in after if row["sample"] in doubtful] == [
        "positive", "negative", "negative", "retest",
    ]  # fmt: skip
    assert report.read_text("utf-8").startswith("sample,status,posterior\nS0,positive,\n")
    assert unknown.code == 2


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
        "pool", "decode", results(tmp_path, 12, "positive"),
        "--worksheet", tmp_path / "a" / "collector.csv", "--secret", secret, "--json",
    )  # fmt: skip
    statuses = [row["status"] for row in decoded.json["samples"]]
    doubtful = {f"P{i:04d}" for i, one in enumerate(statuses, 1) if one == "retest"}
    assert doubtful == exchanged


@pytest.mark.parametrize(
    ("flip", "shown"), [(0.25, "0.25"), (0.12341, "0.1235"), (1.0001e-17, "1.001e-17")]
)
def test_a_flip_is_printed_rounded_up_with_significant_digits(flip, shown):
    """Before: 0.123 for 0.12341, which costs more than was stated, and 0.000 below 0.0005."""
    assert rounded_up(flip) == shown
    assert float(rounded_up(flip)) >= flip
