"""The commands of ledgers, comparisons and the demo."""

import pytest

import dpselect as dp


def test_budget_makes_and_shows_a_ledger(run, tmp_path):
    path = tmp_path / "a.budget"
    made = run(
        "budget", path, "--create", "--epsilon", 3, "--delta", 1e-6, "--neighbours", "edge"
    )
    dp.Budget.open(path).spend(0.5, neighbours=dp.Neighbours.EDGE, mechanism="top node")
    shown = run("budget", path)

    assert made.code == shown.code == 0
    for word in ("epsilon 3, delta 1e-06", "is in the network (edge)", "top node"):
        assert word in shown.out
    assert run("budget", path, "--json").json["entries"][0]["epsilon"] == 0.5


def test_budget_never_remakes_a_ledger(run, tmp_path):
    path = tmp_path / "a.budget"
    create = ("--create", "--epsilon", 1, "--neighbours", "edge")
    run("budget", path, *create)

    assert "is there already" in run("budget", path, *create).error


@pytest.mark.slow
def test_the_demo_wins_where_it_says_so_and_draws_a_picture(run, tmp_path):
    ran = run("demo", "--plot", tmp_path / "demo.png", "--json")
    contacts, tree, deciles, markets, wrong = (ran.json[name] for name in ran.json)

    assert ran.code == 0
    assert (tmp_path / "demo.png").stat().st_size > 1000
    assert contacts["results"]["dpselect"] > 2 * contacts["results"]["OpenDP, top-k"]
    assert len(contacts["released"]) == 10
    assert tree["results"]["dpselect, depth 2"] > tree["results"]["diffprivlib, depth 2"]
    assert min(deciles["results"], key=deciles["results"].get) == "dpselect"
    assert min(markets["results"], key=markets["results"].get) == "dpselect"
    assert wrong["released"] == {"check": "l1", "ok": False, "excess": 1.0}


def test_the_help_of_map_wraps_and_shows_the_options_of_a_release(run):
    shown = run("map", "--help").out

    assert not any(line.strip() == "--queries the" for line in shown.splitlines())
    assert "--tuning-share" in shown
