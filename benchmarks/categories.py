"""Most common values and sets of keys: people needed, recall on real columns, and time.

Run: ``DPSELECT_DATA=<folder> python benchmarks/categories.py [PART...]`` with the parts
``people``, ``many``, ``recall`` and ``time``; it prints the tables of ``docs/categories.md``.
Each peer is measured in the same run: OpenDP's threshold mechanism with the same persons,
epsilon and delta, and the sums without noise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import opendp.prelude as opendp
import polars as pl

import dpselect as dp
from dpselect.categories import STOP, release_keys, release_top
from dpselect.categories.asked import asked_question
from dpselect.categories.counts import people_in
from dpselect.categories.laws import law_of
from dpselect.categories.objectives import by_count, of_most_common, offset_of_stop
from dpselect_studies import datasets

opendp.enable_features("contrib")

ADDED = dp.Neighbours.ADD_REMOVE
DELTA = 1e-6
EPSILONS = (0.1, 1.0)
REPEATS = 10
K = 10


@dataclass(frozen=True)
class Column:
    """A real column, whose person has which values, and how many of a person count."""

    name: str
    rows: pl.DataFrame
    column: str | list[str]
    max_per_user: int

    @property
    def asked(self) -> dict[str, Any]:
        """The public arguments of the column."""
        return {"column": self.column, "user": "person", "max_per_user": self.max_per_user}


def columns() -> Iterator[Column]:
    """Return real columns: nodes of edges, combinations of answers, places of visitors."""
    edges = datasets.load("github_musae").with_row_index("person")
    ends = pl.concat(
        [edges.select("person", node=end) for end in ("src", "dst")], how="vertical"
    )
    yield Column("ends of edges, GitHub", ends, "node", 2)
    answers = datasets.load("acs").with_row_index("person")
    yield Column("10 answers together, ACS", answers, [f"a{i:02}" for i in range(10)], 1)
    visits = datasets.load("points_gowalla_u5628").select("poi", person="user")
    for most in (1, 20):
        yield Column(f"places of visitors, Gowalla, {most} a person", visits, "poi", most)


def people() -> None:
    """Print from how many people on a key is released with probability 1/2."""
    print(f"\npeople for P(released) >= 1/2, delta = {DELTA:g}\n")
    names = ("optimal", "laplace", "gaussian", "OpenDP laplace")
    print(f"| epsilon | keys a person | {' | '.join(names)} |")
    print("|--:" * (len(names) + 2) + "|")
    for epsilon in (0.1, 1.0):
        for keys in (1, 2, 5, 10, 30, 100):
            halves = [str(law_of(name, epsilon, DELTA, keys).half) for name in names[:3]]  # type: ignore[arg-type]
            halves.append(str(peer_threshold(epsilon, keys)[1]))
            print(f"| {epsilon:g} | {keys} | {' | '.join(halves)} |")


def peer(scale: float, threshold: int) -> Any:  # noqa: ANN401 -- OpenDP's measurement
    """Return OpenDP's Laplace threshold for counts by an integer key."""
    return opendp.m.make_laplace_threshold(
        opendp.map_domain(opendp.atom_domain(T="i64"), opendp.atom_domain(T="i64")),
        opendp.l01inf_distance(opendp.absolute_distance(T="i64")),
        scale=scale,
        threshold=threshold,
    )


def peer_threshold(epsilon: float, keys: int) -> tuple[float, int]:
    """Return the scale and the least threshold that its privacy map allows."""
    scale = float(np.nextafter(keys / epsilon, np.inf))
    low, high = 2, int(scale * 60) + 2
    while low < high:
        middle = (low + high) // 2
        spent = peer(scale, middle).map((keys, keys, 1))
        if spent[1] <= DELTA:
            high = middle
        else:
            low = middle + 1
    return scale, low


def recall() -> None:
    """Print the share of the true top that is released, and of its people that are lost."""
    print(f"\nrecall of the top {K} / people lost, mean of {REPEATS} releases\n")
    names = list(methods(next(columns()), 1.0))
    print(f"| column | epsilon | {' | '.join(names)} |")
    print("|---|--:" + "|--:" * len(names) + "|")
    for column in columns():
        exact = exact_counts(column)
        order = sorted(exact, key=lambda key: (-exact[key], str(key)))[:K]
        most = sum(exact[key] for key in order)
        for epsilon in EPSILONS:
            cells = []
            for release in methods(column, epsilon).values():
                found = [release() for _ in range(REPEATS)]
                hits = np.mean([len(set(one) & set(order)) / K for one in found])
                kept = np.mean([sum(exact[key] for key in one) / most for one in found])
                cells.append(f"{hits:.2f} / {1 - kept:.1%}")
            print(f"| {column.name} | {epsilon:g} | {' | '.join(cells)} |", flush=True)


def exact_counts(column: Column) -> dict[Any, int]:
    """Return the people of every key without a limit: the truth."""
    names = [column.column] if isinstance(column.column, str) else column.column
    counted = column.rows.unique(["person", *names]).group_by(names).len()
    keys = counted.select(names).rows()
    return {
        (key[0] if len(names) == 1 else key): people
        for key, people in zip(keys, counted["len"].to_list(), strict=True)
    }


def methods(column: Column, epsilon: float) -> dict[str, Callable[[], list[Any]]]:
    """Return draws of the top, as functions that make one each; the rows are read once."""
    most = column.max_per_user
    limit = max(10 * K, 1000)
    people = people_in(column.rows, asked_question(**column.asked, missing="drop"))
    every, [common] = people.from_count(1), people.largest(limit + 1)
    keys = [every.key(place) for place in range(every.people.size)]
    offset = offset_of_stop(
        k=K, limit=limit, per_user=most, epsilon=epsilon, delta=DELTA, neighbours=ADDED
    )
    public = by_count(every.people, keys, ADDED, 1)
    unknown = of_most_common(common, limit=limit, offset=offset, neighbours=ADDED)
    exponential = dp.ExponentialMechanism(epsilon=epsilon)

    def of_public() -> list[Any]:
        drawn = dp.PermuteAndFlip(epsilon=epsilon).choose(public, K)
        return [keys[place] for place in drawn]

    def of_unknown() -> list[Any]:
        drawn = [unknown.candidates[place] for place in exponential.choose(unknown, K)]
        return drawn[: drawn.index(STOP)] if STOP in drawn else drawn

    def of_law(name: Any) -> list[Any]:  # noqa: ANN401 -- a name of a method
        law: Any = law_of(name, epsilon, DELTA, most)
        held, noisy = law.select(every.people)
        order = np.argsort(-np.where(held, noisy, -1))[: min(K, int(held.sum()))]
        return [keys[place] for place in order]

    # At OpenDP's threshold a count is released, which its privacy map leaves out.
    scale, threshold = peer_threshold(epsilon, most)
    draw, held_by_key = peer(scale, threshold + 1), dict(enumerate(every.people.tolist()))

    def of_opendp() -> list[Any]:
        noisy = draw(held_by_key)
        return [keys[place] for place in sorted(noisy, key=lambda key: -noisy[key])[:K]]

    return {
        "public candidates": of_public,
        "unknown domain": of_unknown,
        "noisy counts, laplace": lambda: of_law("laplace"),
        "noisy counts, gaussian": lambda: of_law("gaussian"),
        "OpenDP laplace": of_opendp,
    }


def many() -> None:
    """Print how many keys are released where persons have many."""
    print(f"\nkeys released, delta = {DELTA:g}\n")
    methods = ("optimal", "gaussian", "weighted", "rounds")
    print(f"| column | epsilon | keys a person | {' | '.join(methods)} |")
    print("|---|" + "--:|" * (len(methods) + 2))
    visits = datasets.load("points_gowalla_u5628").select("user", key="poi")
    rng = np.random.default_rng(0)
    sizes = np.minimum(rng.lognormal(3, 1, 50_000).astype(int) + 1, 400)
    words = pl.DataFrame(
        {
            "user": np.repeat(np.arange(sizes.size), sizes),
            "key": np.minimum(rng.zipf(1.15, sizes.sum()), 10**6),
        }
    )
    for name, rows in (("places, Gowalla", visits), ("words, simulated", words)):
        for epsilon in (1.0, 3.0):
            for most in (10, 100):
                asked: dict[str, Any] = {
                    "user": "user",
                    "max_per_user": most,
                    "epsilon": epsilon,
                    "delta": DELTA,
                    "neighbours": "add-remove",
                }
                cells = []
                for method in methods:
                    release = release_keys(rows, column="key", method=method, **asked)  # type: ignore[arg-type]
                    cells.append(f"{len(release.answer):,}")
                print(f"| {name} | {epsilon:g} | {most} | {' | '.join(cells)} |", flush=True)


def time() -> None:
    """Print seconds for 10^7 rows and 10^6 keys on polars, and the sums without noise."""
    rng = np.random.default_rng(0)
    size, keys = 10**7, 10**6
    rows = pl.DataFrame(
        {
            "key": (keys * rng.random(size) ** 3).astype(np.int64),
            "person": rng.integers(0, size // 5, size),
        }
    )
    price: dict[str, Any] = {"epsilon": 1.0, "delta": DELTA, "neighbours": "add-remove"}
    limited: dict[str, Any] = {"user": "person", "max_per_user": 3}
    runs: dict[str, Callable[[], object]] = {
        "group and sort, no privacy": lambda: (
            rows.lazy().group_by("key").len().sort("len", descending=True).head(11).collect()
        ),
        "release_top, a row a person": lambda: release_top(rows, column="key", k=10, **price),
        "release_keys, a row a person": lambda: release_keys(rows, column="key", **price),
        "distinct, group and sort, no privacy": lambda: (
            rows.lazy().unique().group_by("key").len().sort("len", descending=True).head(11)
        ).collect(),
        "release_top, 3 keys a person": lambda: release_top(
            rows, column="key", k=10, **limited, **price
        ),
        "release_keys, 3 keys a person": lambda: release_keys(
            rows, column="key", **limited, **price
        ),
    }
    release_keys(rows.head(1000), column="key", method="gaussian", **price)
    print(f"\nseconds for {size:,} rows and {rows['key'].n_unique():,} keys, polars\n")
    print("| what | seconds |\n|---|--:|")
    for name, run in runs.items():
        started = perf_counter()
        run()
        print(f"| {name} | {perf_counter() - started:.2f} |", flush=True)


if __name__ == "__main__":
    parts = {"people": people, "many": many, "recall": recall, "time": time}
    for part in sys.argv[1:] or parts:
        parts[part]()
