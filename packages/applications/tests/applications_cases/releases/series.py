"""Releases of running counts: one person's rows in all periods, more or replaced."""

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

import dpselect as dp
from dpselect_conformance import ReleaseCase, pairs_of_persons

PERIODS, KEYS, PERSONS = ["spring", "summer", "autumn"], ["a", "b"], 5
ASKED = {"column": "code", "period": "season", "periods": PERIODS, "k": 1, "candidates": KEYS}
ASKED |= {"user": "person"}


def _visits(rng):
    return [
        (str(rng.choice([*PERIODS, "winter"])), str(rng.choice([*KEYS, "c"])))
        for _ in range(rng.integers(1, 5))
    ]


def _rows(held):
    rows = [(person, *visit) for person, visits in held.items() for visit in visits]
    names = {"person": pl.Int64, "season": pl.String, "code": pl.String}
    return pl.DataFrame(rows, schema=names, orient="row")


PAIRS = pairs_of_persons(_rows, _visits, PERSONS)


def period_by_period(query):
    """Return how a series is released with a file, a period being left out."""

    def run(database, budget):
        with TemporaryDirectory() as folder:
            for through in (PERIODS[0], PERIODS[2]):
                so_far = database.filter(
                    pl.col("season").is_in(PERIODS[: PERIODS.index(through) + 1])
                )
                made = query.release_through(
                    so_far, through, path=Path(folder) / "a.series", budget=budget
                )
        return made

    return run


def _case(name, relation, *, by_period=False, **asked):
    asked = {**ASKED, "max_per_user": 1, "epsilon": 1.0, **asked}
    query = dp.Series(**asked, neighbours=relation)
    run = period_by_period(query) if by_period else None
    # Delta is spent where noise is Gaussian.
    delta = asked.get("delta", 0.0)
    return ReleaseCase(
        f"Series {name}, {relation}",
        query,
        PAIRS[relation],
        delta,
        run=run,
        repeats=run is None,
    )


CASES = [
    case
    for relation in PAIRS
    for case in (
        _case("with Laplace noise", relation),
        _case("of two keys a person", relation, max_per_user=2),
        _case("period by period", relation, by_period=True),
        _case("with Gaussian noise", relation, delta=0.4),
    )
]
