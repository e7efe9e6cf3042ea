"""The command that releases nodes of a network."""

import pytest

import dpselect as dp

ONE = ("--nodes", 30, "--epsilon", 1)


@pytest.fixture
def star(tmp_path):
    """Node 0 joined to 1 to 24, and nodes 25 to 29 alone; one edge is written twice."""
    path = tmp_path / "friends.csv"
    rows = "\n".join(f"0,{leaf}" for leaf in range(1, 25))
    path.write_text(f"source,target\n{rows}\n1,0\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "mechanism",
    ["exponential", "permute-and-flip", "noisy-max", "local-dampening", "shifted", "anchored",
     "pairwise"],
)  # fmt: skip
@pytest.mark.parametrize("metric", ["degree", "ego-density", "ego-betweenness"])
def test_nodes_are_released(run, star, metric, mechanism):
    ran = run(
        "nodes", star, *ONE, "--k", 3, "--metric", metric, "--mechanism", mechanism, "--json"
    )

    assert ran.code == 0
    assert len(set(ran.json["candidates"])) == 3
    assert set(ran.json["candidates"]) <= set(range(30))
    assert (ran.json["neighbours"], ran.json["epsilon_per_round"]) == ("edge", 1 / 3)


def test_a_large_epsilon_finds_the_hub(run, star):
    ran = run("nodes", star, "--nodes", 30, "--epsilon", 50, "--metric", "degree", "--json")

    assert ran.json["candidates"] == [0]


@pytest.mark.parametrize(
    ("combine", "best"),
    [
        (("--combine", "margin"), {0}),
        (("--combine", "weighted-sum", "--weights", "1,1"), {0}),
        (("--combine", "pareto", "--mechanism", "shifted"), set(range(30))),
    ],
)
def test_several_objectives_are_one(run, star, combine, best):
    ran = run(
        "nodes", star, "--nodes", 30, "--epsilon", 500, *combine, "--json",
        "--objective", "degree", "--objective", "ego-density",
    )  # fmt: skip

    assert ran.code == 0
    assert set(ran.json["candidates"]) <= best


def test_labels_come_from_a_file(run, tmp_path):
    people, friends = tmp_path / "people.txt", tmp_path / "friends.csv"
    people.write_text("Ann\nBob\nCy\n", encoding="utf-8")
    friends.write_text("a,b\nAnn,Bob\nAnn,Cy\n", encoding="utf-8")
    ran = run(
        "nodes", friends, "--nodes", people, "--source", "a", "--target", "b",
        "--epsilon", 90, "--metric", "degree", "--json",
    )  # fmt: skip

    assert ran.json["candidates"] == ["Ann"]


def test_a_dry_run_reads_no_edge(run, tmp_path):
    ran = run(
        "nodes", tmp_path / "not-there.csv", *ONE, "--k", 2, "--metric", "degree",
        "--dry-run", "--json",
    )  # fmt: skip

    assert ran.code == 0
    assert ran.json["error_bound_95"] == pytest.approx(2 * 2 * 6.3969, abs=1e-3)


def test_the_ledger_is_spent_once_for_all_rounds(run, star, tmp_path):
    ledger = tmp_path / "a.budget"
    dp.Budget(1.5, neighbours=dp.Neighbours.EDGE, path=ledger)
    ask = ("nodes", star, *ONE, "--k", 4, "--metric", "degree", "--ledger", ledger)
    first, second = run(*ask, "--json"), run(*ask, "--json")

    assert first.json["remaining_budget"] == 0.5
    assert (second.code, second.out) == (2, "")


def test_a_plot_needs_public_edges(run, star, tmp_path):
    picture = tmp_path / "p.png"
    ask = ("nodes", star, *ONE, "--metric", "degree", "--plot", picture)

    assert "say --data-is-public" in run(*ask).error
    assert run(*ask, "--data-is-public").code == 0
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give --metric, or --objective"),
        (("--metric", "fame"), "metric must be one of degree"),
        (("--metric", "degree", "--k", 31), "k must be at most the number of nodes, 30"),
        (("--metric", "degree", "--k", 0), "k must be at least 1"),
        (("--metric", "degree", "--epsilon", 0), "epsilon must be"),
        (("--metric", "degree", "--max-degree", 5), "--max-degree goes with ego-betweenness"),
        (("--metric", "degree", "--weights", "1"), "--weights goes with several"),
        (("--metric", "ego-betweenness", "--max-degree", 5), "max_degree = 5"),
        (("--metric", "degree", "--nodes", 20), "unknown"),
        (("--metric", "degree", "--nodes", "nobody.txt"), "--nodes must be a number, or"),
        (("--metric", "degree", "--source", "from"), "from"),
        (("--objective", "degree", "--combine", "sum"), "--combine must be"),
        (("--objective", "degree", "--combine", "weighted-sum"), "needs --weights"),
        (("--objective", "degree", "--weights", "1"), "--weights goes with --combine"),
    ],
)
def test_a_wrong_argument_is_one_clear_line(run, star, arguments, message):
    ran = run("nodes", star, *ONE, *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert ran.error.count("\n") == 1
    assert message in ran.error
