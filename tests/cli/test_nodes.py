"""The command that releases nodes of a network."""

import pytest

import dpselect as dp
from dpselect.combine import COMBINATIONS
from dpselect.mechanisms import MECHANISMS
from dpselect.networks import METRICS

ONE = ("--nodes", 30, "--epsilon", 1)


@pytest.fixture
def star(tmp_path):
    """Node 0 joined to 1 to 24, and nodes 25 to 29 alone; one edge is written twice."""
    path = tmp_path / "friends.csv"
    rows = "\n".join(f"0,{leaf}" for leaf in range(1, 25))
    path.write_text(f"source,target\n{rows}\n1,0\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("metric", METRICS)
def test_nodes_are_released(run, star, metric, mechanism):
    ran = run(
        "nodes", star, *ONE, "--k", 3, "--metric", metric, "--mechanism", mechanism, "--json"
    )

    assert ran.code == 0
    assert len(set(ran.json["answer"])) == 3
    assert set(ran.json["answer"]) <= set(range(30))
    assert ran.json["neighbours"] == "edge"
    times = 1 if mechanism == "noisy-sequence" else 3
    assert [(s["times"], s["epsilon"]) for s in ran.json["spends"]] == [(times, 1 / times)]


@pytest.mark.parametrize("engine", ["memory", "polars"])
@pytest.mark.parametrize(
    "more", [("--metric", "degree"), ("--metric", "ego-density", "--hubs", 5)]
)
def test_a_person_is_protected_with_all_rows(run, star, engine, more):
    asked = ("--user", "source", "--max-per-user", 3, "--json")
    ran = run("nodes", star, "--nodes", 30, "--epsilon", 50, *asked, *more, "--dry-run")

    assert ran.code == 0, ran.error
    assert ran.json["neighbours"] == "add-remove"
    assert ran.json["arguments"]["max_per_user"] == 3
    if "--hubs" not in more:
        ran = run(
            "nodes", star, "--nodes", 30, "--epsilon", 50, *asked, *more, "--engine", engine
        )
        assert ran.json["answer"] == [0]


def test_a_large_epsilon_finds_the_hub(run, star):
    ran = run("nodes", star, "--nodes", 30, "--epsilon", 50, "--metric", "degree", "--json")

    assert ran.json["answer"] == [0]


@pytest.mark.parametrize(
    ("combine", "best"),
    [
        (("--combine", "margin"), {0}),
        (("--combine", "weighted-sum", "--weights", "1,1"), {0}),
        (("--combine", "pareto"), {0}),
        (("--combine", "margin", "--among", "left"), {0}),
        ((), {0}),
    ],
)
def test_several_metrics_are_one(run, star, combine, best):
    ran = run(
        "nodes", star, "--nodes", 30, "--epsilon", 500, *combine, "--json",
        "--metric", "degree", "--metric", "ego-density",
    )  # fmt: skip

    assert ran.code == 0
    assert set(ran.json["answer"]) <= best


def test_labels_come_from_a_file(run, tmp_path):
    people, friends = tmp_path / "people.txt", tmp_path / "friends.csv"
    people.write_text("Ann\nBob\nCy\n", encoding="utf-8")
    friends.write_text("a,b\nAnn,Bob\nAnn,Cy\n", encoding="utf-8")
    ran = run(
        "nodes", friends, "--nodes", people, "--source", "a", "--target", "b",
        "--epsilon", 90, "--metric", "degree", "--json",
    )  # fmt: skip

    assert ran.json["answer"] == ["Ann"]


@pytest.fixture
def header(tmp_path):
    """A table with the columns of a graph, and no edge."""
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("more", [("--dry-run",), ()])
def test_a_dry_run_makes_the_checks_of_the_release(run, tmp_path, header, more):
    ask = ("--metric", "degree", *more)

    assert "there is no file" in run("nodes", tmp_path / "no.csv", *ONE, *ask).error
    assert "no column 'from'" in run("nodes", header, *ONE, *ask, "--source", "from").error
    assert "k must be at most" in run("nodes", header, *ONE, *ask, "--k", 10**6).error


def test_a_dry_run_reads_no_edge(run, header):
    ran = run(
        "nodes", header, *ONE, "--k", 2, "--metric", "degree",
        "--dry-run", "--json",
    )  # fmt: skip

    assert ran.code == 0
    assert ran.json["error_bound"]["value"] == pytest.approx(2 * 2 * 6.3969, abs=1e-3)


def test_the_metric_chooses_the_mechanism(run, header):
    ask = ("nodes", header, *ONE, "--dry-run", "--json")
    drawn = {name: run(*ask, "--metric", name).json["mechanism"] for name in METRICS}

    assert {name: text.split("(")[0] for name, text in drawn.items()} == {
        "degree": "PermuteAndFlip",
        "ego-density": "AnchoredLocalDampening",
        "ego-betweenness": "ShiftedLocalDampening",
    }


def test_the_help_lists_the_registries(run):
    text = run("nodes", "--help").out

    for name in (*METRICS, *COMBINATIONS, *MECHANISMS):
        assert name in text


def test_a_record_that_is_no_edge_is_left_out(run, star):
    ask = ("nodes", star, "--nodes", 20, "--epsilon", 50, "--metric", "degree")

    assert run(*ask, "--json").json["answer"] == [0]
    refused = run(*ask, "--strict")
    assert (refused.code, refused.out) == (2, "")
    assert "not among nodes" in refused.error


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
        (("--metric", "fame"), "metric must be one of degree"),
        (("--metric", "degree", "--k", 31), "k must be at most the number of nodes, 30"),
        (("--metric", "degree", "--k", 0), "k must be at least 1"),
        (("--metric", "degree", "--epsilon", 0), "epsilon must be"),
        (("--metric", "degree", "--max-degree", 5), "--max-degree goes with the metric ego-b"),
        (("--metric", "degree", "--weights", "1"), "weights go with combine"),
        (("--metric", "degree", "--weights", "a"), "--weights must be numbers"),
        (("--metric", "ego-betweenness", "--max-degree", 5), "--max-degree 5"),
        (("--metric", "degree", "--nodes", 20, "--strict"), "not among nodes"),
        (("--metric", "degree", "--nodes", "nobody.txt"), "--nodes must be a number, or"),
        (("--metric", "degree", "--source", "from"), "from"),
        (("--metric", "degree", "--mechanism", "best"), "mechanism must be one of"),
        (("--metric", "degree", "--combine", "sum"), "combine must be one of"),
        (("--metric", "degree", "--combine", "weighted-sum"), "needs weights"),
        (("--metric", "degree", "--among", "left"), "--among 'left' goes with --combine"),
        (("--metric", "ego-density", "--hubs", 5, "--among", "left"), "--hubs takes one"),
    ],
)
def test_a_wrong_argument_is_one_clear_line(run, star, arguments, message):
    ran = run("nodes", star, *ONE, *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert ran.error.count("\n") == 1
    assert message in ran.error


def test_a_metric_must_be_given(run, star):
    ran = run("nodes", star, *ONE)

    assert (ran.code, ran.out) == (2, "")
    assert "--metric" in ran.error


def test_scores_thresholds_and_hubs(run, star):
    asked = ("--nodes", 30, "--epsilon", 1000)

    scores = run("nodes", star, *asked, "--metric", "degree", "--scores", "--json")
    above = run("nodes", star, *asked, "--metric", "degree", "--above", 5)
    hubs = run("nodes", star, *asked, "--metric", "ego-betweenness", "--hubs", 2, "--json")

    assert (scores.json["answer"], scores.json["noisy_scores"]) == ([0], [24])
    assert "0: 24" in above.out
    assert hubs.json["answer"] == [0]
    assert hubs.json["noisy_scores"] == pytest.approx([276], rel=1e-3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--k", 2, "--above", 5), "give k or above"),
        (("--scores", "--mechanism", "exponential"), "leave out --mechanism"),
        (("--above", 5, "--mechanism", "exponential"), "above needs a noisy sequence"),
        (("--hubs", 5, "--above", 5), "--hubs takes one --metric"),
    ],
)
def test_options_that_do_not_go_together(run, star, wrong, message):
    ran = run("nodes", star, *ONE, "--metric", "degree", *wrong)

    assert ran.code == 2
    assert message in " ".join(ran.error.split())
