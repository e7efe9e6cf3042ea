"""The commands that compare designs, write worksheets and decode pooled tests."""

import pytest

import dpselect as dp
from dpselect_pooling.command import rounded_up

PLAN = ("pool", "plan", "--n", 40, "--d", 2, "--trials", 20)


@pytest.fixture
def samples(tmp_path):
    path = tmp_path / "samples.csv"
    path.write_text("sample\n" + "\n".join(f"S{i}" for i in range(12)), encoding="utf-8")
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


@pytest.mark.parametrize(
    ("flip", "shown"), [(0.25, "0.25"), (0.12341, "0.1235"), (1.0001e-17, "1.001e-17")]
)
def test_a_flip_is_printed_rounded_up_with_significant_digits(flip, shown):
    """Before: 0.123 for 0.12341, which costs more than was stated, and 0.000 below 0.0005."""
    assert rounded_up(flip) == shown
    assert float(rounded_up(flip)) >= flip
