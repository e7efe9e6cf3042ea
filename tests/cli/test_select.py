"""The command that chooses from a table of scores."""

import polars as pl
import pytest

from dpselect.mechanisms import MECHANISMS

ASK = ("--neighbours", "substitute", "--epsilon", 400, "--label", "offer")


@pytest.fixture
def offers(tmp_path):
    path = tmp_path / "offers.csv"
    path.write_text(
        "offer,cost,quality,reach,d0,d1\n"
        "cheap,1,2,5,1,2\nbest,3,9,2,0.5,2\nworst,9,1,1,1,1\nclose,4,8,2,1,2\n",
        encoding="utf-8",
    )
    return path


def test_a_kind_of_dominance_decides_which_candidates_are_on_the_front(run, tmp_path):
    twins = tmp_path / "twins.csv"
    twins.write_text("offer,quality,reach\none,3,5\ntwin,3,5\nfar,1,9\n", encoding="utf-8")
    asked = ("select", twins, *ASK, "--objective", "quality:global=1", "--objective")
    asked = (*asked, "reach:global=1", "--json")

    weak, led = run(*asked, "--dominance", "weak").json, run(*asked).json
    plain = [run(*asked, "--mechanism", "permute-and-flip").json for _ in range(40)]

    assert (weak["answer"], weak["dominance"]) == (
        ["far"],
        "weak",
    )  # twins dominate each other
    assert led["answer"] == ["far"]  # a step parts the twins
    assert {one["answer"][0] for one in plain} == {"one", "twin", "far"}


def test_a_pareto_score_has_every_fact_but_a_direction(run, offers):
    for mechanism in MECHANISMS:
        ran = run(
            "select", offers, *ASK, "--json", "--mechanism", mechanism,
            "--objective", "quality:global=1:local=d", "--objective", "cost:-1:global=1",
            *(("--direction", "non-increasing") if mechanism == "shifted" else ()),
        )  # fmt: skip
        assert ran.code == 0


def test_a_weighted_sum_of_some_objectives_is_one_of_several(run, tmp_path):
    table = tmp_path / "sums.csv"
    table.write_text("offer,a,b,c\nx,3,1,0\ny,1,2,5\nz,2,1,4\nw,0,0,0\n", encoding="utf-8")
    ask = ("select", table, *ASK, "--json", "--k", 3)
    total = ("--objective", "a:2:global=1e+0 + b:-1:global=0.5")
    rest = ("--objective", "c:global=1")

    # The sums are 5, 0, 3 and 0, so that w alone is dominated.
    ran = run(*ask, *total, *rest)
    assert sorted(ran.json["answer"]) == ["x", "y", "z"]
    assert ran.json["objective"] == [total[1], rest[1]]
    assert "units of a + b" in run(*ask[:-1], 1, *total).json["error"]
    assert run(*ask[:-1], 1, *total).json["answer"] == ["x"]
    assert "b:global=BOUND" in run(*ask, "--objective", "a:global=1 + b").error


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_integers_keep_all_their_digits(run, tmp_path, kind):
    """All are the same float: in any other order 719 times in 720."""
    path = tmp_path / f"scores.{kind}"
    scores = [2**57 + digit for digit in (3, 0, 5, 1, 4, 2)]
    getattr(pl.DataFrame({"score": scores}), f"write_{kind}")(path)
    ask = ("--objective", "score:global=1", "--neighbours", "substitute", "--epsilon", 1000)

    ran = run("select", path, *ask, "--k", 6, "--json")

    assert len(set(map(float, scores))) == 1
    assert ran.json["answer"] == [2, 4, 0, 5, 3, 1]
