"""The command that chooses from a table of scores."""

import polars as pl
import pytest

from dpselect.mechanisms import MECHANISMS

ASK = ("--neighbours", "substitute", "--epsilon", 400, "--label", "offer")


OFFERS = """offer,cost,quality,d0,d1
cheap,1,2,1,2
best,3,9,0.5,2
close,4,8,1,2
"""


def test_a_pareto_score_has_every_fact_but_a_direction(run, tmp_path):
    (tmp_path / "offers.csv").write_text(OFFERS, encoding="utf-8")
    for mechanism in MECHANISMS:
        ran = run(
            "select", tmp_path / "offers.csv", *ASK, "--json", "--mechanism", mechanism,
            "--objective", "quality:global=1:local=d", "--objective", "cost:-1:global=1",
            *(("--direction", "non-increasing") if mechanism == "shifted" else ()),
        )  # fmt: skip
        assert ran.code == 0


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
