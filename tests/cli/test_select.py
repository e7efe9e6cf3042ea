"""The command that chooses from a table of scores."""

import pytest

import dpselect as dp
from dpselect.combine import COMBINATIONS
from dpselect.mechanisms import MECHANISMS

ASK = ("--neighbours", "substitute", "--epsilon", 400, "--label-column", "offer")


@pytest.fixture
def offers(tmp_path):
    path = tmp_path / "offers.csv"
    path.write_text(
        "offer,cost,quality,reach,d0,d1\n"
        "cheap,1,2,5,1,2\nbest,3,9,2,0.5,2\nworst,9,1,1,1,1\nclose,4,8,2,1,2\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("objectives", "chosen"),
    [
        (["quality:global=1"], {"best"}),
        (["cost:-1:global=1"], {"cheap"}),
        (["quality:global=1:monotone"], {"best"}),
        (["quality:global=reach"], {"best"}),
        (["quality:global=1", "cost:-1:global=1"], {"best", "cheap"}),
    ],
)
def test_the_best_candidate_is_chosen(run, offers, objectives, chosen):
    options = [part for one in objectives for part in ("--objective", one)]
    ran = run("select", offers, *options, *ASK, "--json")

    assert set(ran.json["answer"]) <= chosen
    assert ran.json["neighbours"] == "substitute"


def test_weights_decide_a_weighted_sum(run, offers):
    def chosen(weight):
        ran = run(
            "select", offers, *ASK, "--combine", "weighted-sum", "--json",
            "--objective", "quality:global=1", "--objective", f"cost:{weight}:global=1",
        )  # fmt: skip
        return ran.json["answer"]

    assert chosen(-1) == ["best"]
    assert chosen(-9) == ["cheap"]


def test_a_margin_takes_two_objectives(run, offers):
    ran = run(
        "select", offers, *ASK, "--combine", "margin", "--k", 4, "--json",
        "--objective", "quality:global=1", "--objective", "cost:-1:global=1",
    )  # fmt: skip

    assert sorted(ran.json["answer"]) == ["best", "cheap", "close", "worst"]


def test_local_sensitivities_are_columns_by_distance(run, offers):
    ran = run(
        "select", offers, *ASK, "--objective", "quality:global=5:local=d",
        "--mechanism", "local-dampening", "--json",
    )  # fmt: skip

    assert ran.json["answer"] == ["best"]
    assert ran.json["mechanism"].startswith("LocalDampening(")


@pytest.mark.parametrize("mode", [(), ("--dry-run",)])
def test_shifted_needs_a_direction_where_candidates_differ(run, offers, mode):
    ask = ("select", offers, *ASK, "--mechanism", "shifted", *mode, "--objective")
    local = (*ask, "quality:global=5:local=d")

    assert "needs --direction" in run(*local).error
    assert "--direction must be" in run(*local, "--direction", "up").error
    assert run(*local, "--direction", "non-decreasing").code == 0
    assert run(*ask, "quality:global=5").code == 0


def test_anchored_takes_the_highest_score_of_the_objective(run, offers):
    ask = ("select", offers, *ASK, "--mechanism", "anchored", "--json", "--objective")
    ran = run(*ask, "quality:2:global=5:highest=10")

    assert "needs highest=SCORE" in run(*ask, "quality:global=5").error
    assert "anchor=20.0" in ran.json["mechanism"]
    assert ran.json["answer"] == ["best"]


def test_a_pareto_score_has_every_fact_that_mechanisms_need(run, offers):
    for mechanism in MECHANISMS:
        ran = run(
            "select", offers, *ASK, "--json", "--mechanism", mechanism,
            "--objective", "quality:global=1:local=d", "--objective", "cost:-1:global=1",
        )  # fmt: skip
        assert ran.code == 0


def test_the_help_names_what_is_registered(run):
    shown = run("select", "--help").out

    assert all(name in shown for name in [*MECHANISMS, *COMBINATIONS])


def test_what_is_asked_is_part_of_the_release(run, offers):
    ran = run("select", offers, *ASK, "--objective", "quality:global=1", "--json")

    assert ran.json["function"] == "select"
    assert ran.json["arguments"]["objectives"] == ["quality:global=1"]


def test_a_dry_run_does_not_depend_on_the_scores(run, offers):
    ask = ("select", offers, *ASK, "--objective", "quality:global=2:local=d", "--dry-run")
    before = run(*ask).out
    text = offers.read_text(encoding="utf-8").replace(",9,", ",7,")
    offers.write_text(text, encoding="utf-8")

    assert "at most" in before
    assert run(*ask).out == before


def test_the_ledger_is_spent(run, offers, tmp_path):
    ledger = tmp_path / "a.budget"
    dp.Budget(500, neighbours=dp.Neighbours.SUBSTITUTE, path=ledger)
    ask = ("select", offers, *ASK, "--objective", "quality:global=1", "--ledger", ledger)

    assert run(*ask, "--json").json["remaining_budget"] == 100
    assert run(*ask).code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--objective", "quality"), "must be COLUMN[:WEIGHT]:global=BOUND"),
        (("--objective", "quality:global="), "must be COLUMN[:WEIGHT]:global=BOUND"),
        (("--objective", "quality:x:global=1"), "must be COLUMN[:WEIGHT]:global=BOUND"),
        (("--objective", "quality:global=-1"), "a bound must be finite and > 0"),
        (("--objective", "quality:global=nothing"), "there is no column 'nothing'"),
        (("--objective", "price:global=1"), "there is no column 'price'"),
        (("--objective", "offer:global=1"), "scores must be finite"),
        (("--objective", "quality:global=1:local=e"), "needs a column e0"),
        (("--objective", "quality:0:global=1"), "weights must be finite and not all 0"),
        (("--objective", "quality:global=1", "--k", 9), "k must be at most"),
        (("--objective", "quality:global=1", "--neighbours", "x"), "must be one of"),
        (("--objective", "quality:global=1", "--mechanism", "x"), "mechanism must be"),
        (
            ("--objective", "cost:global=1", "--objective", "reach:global=1",
             "--combine", "both"),
            "combine must be",
        ),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_one_clear_line(run, offers, arguments, message):
    ran = run("select", offers, *ASK, *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert ran.error.count("\n") == 1
    assert message in ran.error
