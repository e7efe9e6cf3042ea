"""The commands that release nodes and hubs of a network."""

import pytest

ONE = ("--nodes", 30, "--k", 1, "--epsilon", 1)
SURE = ("--nodes", 30, "--k", 1, "--epsilon", 50)


@pytest.fixture
def star(tmp_path):
    """Node 0 joined to 1 to 24, and nodes 25 to 29 alone; one edge is written twice."""
    path = tmp_path / "friends.csv"
    rows = "\n".join(f"0,{leaf}" for leaf in range(1, 25))
    path.write_text(f"source,target\n{rows}\n1,0\n", encoding="utf-8")
    return path


def test_several_metrics_are_separated_by_commas_or_given_apart(run, star):
    both = ("--combine", "pareto", "--dry-run")
    ran = run("nodes", star, *ONE, "--metric", "degree,ego-density", *both)

    assert ran.code == 0
    assert ran == run(
        "nodes", star, *ONE, "--metric", "degree", "--metric", "ego-density", *both
    )


def test_a_weighted_sum_of_metrics_is_one_of_several(run, star):
    ran = run(
        "nodes", star, *ONE, "--metric", "degree,ego-density:100 + ego-betweenness",
        "--combine", "pareto", "--json",
    )  # fmt: skip
    metric = ["degree", {"ego-density": 100.0, "ego-betweenness": 1.0}]
    twice = ("--metric", "degree:1 + degree:2")

    assert ran.json["arguments"]["metric"] == metric
    assert "has each metric once" in run("nodes", star, *ONE, *twice).error
    assert (
        "--metric must be a number"
        in run("nodes", star, *ONE, "--metric", "degree:1 + ego-density:x").error
    )


def test_a_missing_column_that_nobody_named_is_to_be_named(run, star):
    star.write_text("a,b\n0,1\n", encoding="utf-8")
    asked = ("nodes", star, *ONE, "--metric", "degree", "--dry-run")

    assert "the columns are: a, b; name yours by --source\n" in run(*asked).error
    assert run(*asked, "--source", "c").error.endswith("the columns are: a, b\n")


@pytest.mark.parametrize(
    ("command", "engine"), [("nodes", "memory"), ("nodes", "polars"), ("hubs", "memory")]
)
def test_a_person_is_protected_with_all_rows(run, star, command, engine):
    metric = {"nodes": "degree", "hubs": "ego-density"}[command]
    of_persons = ("--user", "source", "--max-per-user", 3, "--metric", metric, "--json")
    asked = (command, star, *SURE, *of_persons, "--engine", engine)
    dry, ran = run(*asked, "--dry-run"), run(*asked)

    assert dry.code == 0, dry.error
    assert dry.json["neighbours"] == "add-remove"
    assert dry.json["arguments"]["max_per_user"] == 3
    assert command == "hubs" or ran.json["answer"] == [0]
    assert ran.json["neighbours"] == "add-remove"


def test_labels_come_from_a_file(run, tmp_path):
    people, friends = tmp_path / "people.txt", tmp_path / "friends.csv"
    people.write_text("Ann\nBob\nCy\n", encoding="utf-8")
    friends.write_text("a,b\nAnn,Bob\nAnn,Cy\n", encoding="utf-8")
    for engine in ("memory", "polars"):
        ran = run(
            "nodes", friends, "--nodes", people, "--source", "a", "--target", "b", "--k", 1,
            "--epsilon", 90, "--metric", "degree", "--engine", engine, "--json",
        )  # fmt: skip
        assert ran.json["answer"] == ["Ann"]


def test_a_record_that_is_no_edge_is_left_out(run, star):
    ask = ("nodes", star, *SURE, "--nodes", 20, "--metric", "degree")

    assert run(*ask, "--json").json["answer"] == [0]
    refused = run(*ask, "--on-invalid", "raise")
    assert (refused.code, refused.out) == (2, "")
    assert "not among --nodes" in refused.error
    assert "--on-invalid 'repair'" in refused.error


def test_public_edges_are_drawn(run, star, tmp_path):
    picture = tmp_path / "p.png"
    ask = ("nodes", star, *ONE, "--metric", "degree", "--plot", picture)

    assert run(*ask, "--data-is-public").code == 0
    assert picture.stat().st_size > 1000


def test_noisy_scores_of_sequences_thresholds_and_hubs(run, star):
    asked = (star, "--nodes", 30, "--epsilon", 1000)
    sequence = ("--metric", "degree", "--mechanism", "noisy-sequence")
    hub = ("--metric", "ego-betweenness", "--candidates", 2)

    scores = run("nodes", *asked, "--k", 1, *sequence, "--json")
    above = run("nodes", *asked, "--metric", "degree", "--above", 5)
    hubs = run("hubs", *asked, "--k", 1, *hub, "--json")

    assert (scores.json["answer"], scores.json["noisy_scores"]) == ([0], [24])
    assert f"0{24:>15}" in above.out
    assert hubs.json["answer"] == [0]
    assert hubs.json["noisy_scores"] == pytest.approx([276], rel=1e-3)


@pytest.mark.parametrize(
    "options",
    [
        {"combine": "margin"},
        {"combine": "weighted-sum", "weights": "1,1"},
        {"combine": "margin", "redraw": "remaining"},
        {"combine": "pareto", "dominance": "weak"},
        {"combine": "pareto", "dominance": "strict"},
    ],
)
def test_several_metrics_are_one(run, star, options):
    words = [word for name, value in options.items() for word in (f"--{name}", value)]

    ran = run("nodes", star, *SURE, "--metric", "degree,ego-density", *words, "--json")

    assert ran.code == 0, ran.error
    stated = {name: str(ran.json["arguments"][name]) for name in options}
    assert stated == {**options, **({"weights": "[1.0, 1.0]"} if "weights" in options else {})}
    assert ran.json["answer"] == [0] or "strict" in words
