"""The commands that train private trees."""

import json

import numpy as np
import polars as pl
import pytest

import dpselect as dp

DECLARED = {
    "label": "out",
    "classes": ["no", "yes"],
    "max_records": 1000,
    "columns": {
        "sky": {"values": ["sun", "rain"], "other": "other"},
        "degrees": {"low": -10, "high": 40, "bins": 5},
        "day": {"values": [0, 1]},
    },
}


@pytest.fixture
def weather(tmp_path):
    rng = np.random.default_rng(1)
    sky = rng.choice(["sun", "rain"], 600)
    frame = pl.DataFrame(
        {
            "sky": sky,
            "degrees": rng.integers(-5, 35, 600),
            "day": rng.integers(0, 2, 600),
            "out": np.where(sky == "sun", "yes", "no"),
        }
    )
    frame.write_csv(tmp_path / "weather.csv")
    frame.write_parquet(tmp_path / "weather.parquet")
    (tmp_path / "weather.json").write_text(json.dumps(DECLARED), encoding="utf-8")
    return tmp_path


def options(folder, *more):
    asked = ("--domains", folder / "weather.json", "--epsilon", 50)
    return (*asked, "--neighbours", "add-remove", *more)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_tree_is_trained_printed_and_measured(run, weather, kind):
    data = weather / f"weather.{kind}"
    ran = run("tree", data, *options(weather, "--test", data, "--test-is-public"))

    assert ran.code == 0, ran.error
    assert "sky = sun" in ran.out
    assert "epsilon 50 (add-remove neighbours)" in ran.out
    assert float(ran.out.split("test accuracy")[1].split()[0]) > 0.95


@pytest.mark.parametrize(
    ("values", "classes"), [([0, 1], [False, True]), ([True, False], ["no", "yes"])]
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_truth_values_are_numbers_and_labels(run, weather, kind, values, classes):
    sun = np.random.default_rng(1).random(600) < 0.5
    columns = {"sun": sun, "out": np.array(classes)[sun.astype(int)]}
    data = weather / f"truth.{kind}"
    getattr(pl.DataFrame(columns), f"write_{kind}")(data)
    declared = {**DECLARED, "classes": classes, "columns": {"sun": {"values": values}}}
    (weather / "weather.json").write_text(json.dumps(declared), encoding="utf-8")
    ran = run(
        "tree",
        data,
        *options(weather, "--test", data, "--test-is-public", "--on-invalid", "raise"),
    )

    assert ran.code == 0, ran.error
    assert ran.out.split("test accuracy")[1].split()[0] == "1"


def test_a_tree_is_saved_drawn_and_printed_as_json(run, weather):
    more = ("--save", weather / "tree.json", "--plot", weather / "tree.png", "--json")
    ran = run("tree", weather / "weather.csv", *options(weather, *more))

    assert ran.json["epsilon"] == 50
    assert json.loads((weather / "tree.json").read_text())["tree"] == ran.json["tree"]
    assert (weather / "tree.png").stat().st_size > 1000


def test_a_front_is_evolved_and_drawn(run, weather):
    more = ("--population", 20, "--plot", weather / "front.png", "--weights", "3,2")
    ran = run("trees-front", weather / "weather.csv", *options(weather, *more, "--json"))

    assert ran.code == 0, ran.error
    assert ran.json["best"] in {0, 1, 2}
    assert [tree["classes"] for tree in ran.json["trees"]] == [["no", "yes"]] * 3
    words = run("trees-front", weather / "weather.csv", *options(weather, *more))
    assert "true positive rate" in words.out
    assert any(f"tree {best}  " in words.out for best in range(3))
    assert (weather / "front.png").stat().st_size > 1000


def test_dp_moet_is_evolved_by_the_inputs_of_the_paper(run, weather):
    inputs = ("--dp-moet", "p=20,s=4,k=2,d=3,d_max=4,o=2")
    made = run("trees-front", weather / "weather.csv", *options(weather, *inputs))
    planned = ("--dry-run", "--rate-bound", "global", "--selection", "weighted-sum")
    more = ("--mechanism", "permute-and-flip", "--generations", 5, "--json")
    plan = run(
        "trees-front", weather / "weather.csv", *options(weather, *inputs, *planned, *more)
    )

    assert made.code == 0, made.error
    assert "local-dampening by pareto, local" in made.out
    assert "None" not in made.out
    assert plan.json["mechanism"] == "permute-and-flip by weighted-sum, global"
    assert [spend["times"] for spend in plan.json["spends"]] == [4, 4, 4, 4, 2]


@pytest.mark.parametrize(
    "inputs", ["p=20", "p=20,s=4,k=2,d=3,d_max=4,o=2,q=1", "20,4,2,3,4,2", "p=2.5", "k", ""]
)
def test_inputs_that_are_not_those_of_the_paper_are_refused(run, weather, inputs):
    ran = run("trees-front", weather / "weather.csv", *options(weather, "--dp-moet", inputs))

    assert ran.code == 2
    assert "--dp-moet must be the inputs of Algorithm 1" in ran.error


@pytest.mark.parametrize("command", ["tree", "trees-front"])
def test_an_empty_file_gives_trees_at_full_cost(run, weather, command):
    ledger = weather / "ledger"
    dp.Budget(100, neighbours=dp.Neighbours.ADD_REMOVE, path=ledger)
    for kind in ("csv", "parquet"):
        data = weather / f"weather.{kind}"
        empty = pl.read_parquet(weather / "weather.parquet").head(0)
        getattr(empty, f"write_{kind}")(data)
        ran = run(command, data, *options(weather, "--ledger", ledger))

        assert ran.code == 0, ran.error
    assert dp.Budget.open(ledger).spent == 100


def test_a_template_reads_no_value(run, weather):
    ran = run("domains", weather / "weather.parquet", "--label", "out")

    assert ran.json["columns"]["sky"] == {"values": [], "other": "other"}
    assert ran.json["columns"]["degrees"] == {"low": None, "high": None, "bins": 8}
    assert "rain" not in ran.out


def test_public_values_make_a_file_to_train_with(run, weather):
    ran = run("domains", weather / "weather.parquet", "--label", "out", "--data-is-public")
    (weather / "weather.json").write_text(ran.out)

    assert ran.json["classes"] == ["no", "yes"]
    assert run("tree", weather / "weather.parquet", *options(weather)).code == 0
    assert run("domains", weather / "weather.parquet", "--label", "x").code == 2
