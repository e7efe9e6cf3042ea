"""Most common values and sets of keys: people needed, recall on real columns, and time.

Run: ``DPSELECT_DATA=<folder> python benchmarks/keys.py [PART...]`` with the parts
``people``, ``recall``, ``noise``, ``show`` and ``behind`` (of what these two stored), ``time``,
``memory``; it prints the tables of ``docs/report/measurements.md``.
Each peer is measured in the same run: OpenDP's threshold mechanism with the same persons,
epsilon and delta, and the sums without noise.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import opendp.prelude as opendp
import polars as pl

import dpselect as dp
from dpselect.keys.rounds import RoundsSelection
from dpselect.keys.rows import Counted, KeyRows
from dpselect.keys.selection import selection_of
from dpselect.typing import Indices
from dpselect_studies import datasets

opendp.enable_features("contrib")

ADDED = dp.Neighbours.ADD_REMOVE
DELTA = 1e-6
EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0)
REPEATS = 10
K = 10
SIMULATED, SIMULATED_KEYS = 1_000, 300
"""Releases, and the keys of most people that they draw from."""
OPENDP = "OpenDP's threshold"

LARGE, LARGE_KEYS = 10**8, 10**6
PERSONS = "Keys, 3 keys a person"
RESULTS = Path(__file__).parent / "results" / "keys_recall.csv"


@dataclass(frozen=True, eq=False)
class Column:
    """A real column, whose person has which values, and how many of a person count.

    ``domain`` is public; if there is none, all values are declared that occur.
    """

    name: str
    rows: pl.DataFrame
    column: str | list[str]
    max_per_user: int
    domain: list[Any] | None = None

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
    points = datasets.load("points_gowalla_u5628")
    cells = points.select(
        person="user",
        x=((pl.col("lon") + 180) / 360 * 256).cast(pl.Int64),
        y=((pl.col("lat") + 90) / 180 * 256).cast(pl.Int64),
    )
    every = list(product(range(256), range(256)))
    yield Column("cells of visitors, Gowalla, 5 a person", cells, ["x", "y"], 5, every)


def people() -> None:
    """Print from how many people on a key is released with probability 1/2."""
    print(f"\npeople for P(released) >= 1/2, delta = {DELTA:g}\n")
    of_count: list[Any] = ["optimal", "laplace", "gaussian"]
    names = (*of_count, "rounds", "OpenDP laplace")
    print(f"| epsilon | keys a person | {' | '.join(names)} |")
    print("|--:" * (len(names) + 2) + "|")
    for epsilon in (0.1, 1.0):
        for keys in (1, 2, 5, 10, 30, 100):
            halves = [str(selection_of(name, epsilon, DELTA, keys).half) for name in of_count]
            [typical, *_] = RoundsSelection(epsilon, DELTA, keys, 1).chances()
            halves.append(str(typical.people_for(0.5)))
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
    """Measure the share of the true top that is released, and of its people that are lost."""
    rows = []
    for column in columns():
        exact = exact_counts(column)
        order = sorted(exact, key=lambda key: (-exact[key], str(key)))[:K]
        most = sum(exact[key] for key in order)
        for epsilon in EPSILONS:
            for name, release in methods(column, epsilon).items():
                found = [release() for _ in range(REPEATS)]
                hits = np.mean([len(set(one) & set(order)) / K for one in found])
                kept = np.mean([sum(exact.get(key, 0) for key in one) / most for one in found])
                rows.append((column.name, epsilon, name, hits, 1 - kept))
        print(f"{column.name}: done", flush=True)
    names = ["column", "epsilon", "method", "recall", "lost"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    table.write_csv(RESULTS, float_precision=4)
    show()


def show() -> None:
    """Print the stored results."""
    table = pl.read_csv(RESULTS)
    names = table["method"].unique(maintain_order=True).to_list()
    print(f"\nrecall of the top {K} / people lost, mean of {REPEATS} releases\n")
    print(f"| column | ε | {' | '.join(names)} |")
    print("|---|--:" + "|--:" * len(names) + "|")
    for (column, epsilon), cells in table.group_by("column", "epsilon", maintain_order=True):
        if epsilon in {0.1, 1.0}:
            shown = [f"{hits:.2f} / {lost:.1%}" for hits, lost in cells[:, 3:].iter_rows()]
            print(f"| {column} | {epsilon:g} | {' | '.join(shown)} |")


def noise() -> None:
    """Store the recall of the top by each noise, and by OpenDP's threshold, of many releases.

    All draw from the counts of the keys of most people, which alone can be among the top.
    """
    rows = []
    for column in columns():
        exact = exact_counts(column)
        order = sorted(exact, key=lambda key: (-exact[key], str(key)))[:K]
        held = held_of(column).largest(SIMULATED_KEYS)
        for epsilon in EPSILONS:
            default = selection_of(None, epsilon, DELTA, column.max_per_user, K).name
            for name, release in unknown(held, column, epsilon).items():
                hits = [len(set(release()) & set(order)) / K for _ in range(SIMULATED)]
                error = np.std(hits) / SIMULATED**0.5
                rows.append((column.name, epsilon, name, name == default, np.mean(hits), error))
        print(f"{column.name}: done", flush=True)
    names = ["column", "epsilon", "noise", "default", "recall", "standard error"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    table.write_csv(RESULTS.with_name("keys_noise.csv"), float_precision=4)
    behind()


def behind() -> None:
    """Print by how many standard errors of the difference the default is ahead of OpenDP."""
    table = pl.read_csv(RESULTS.with_name("keys_noise.csv"))
    ours, theirs = table.filter("default"), table.filter(noise=OPENDP)
    both = ours.join(theirs, on=["column", "epsilon"], suffix="_of_opendp")
    error = (pl.col("standard error") ** 2 + pl.col("standard error_of_opendp") ** 2).sqrt()
    ahead = pl.col("recall") - pl.col("recall_of_opendp")
    with pl.Config(tbl_rows=-1, fmt_str_lengths=50):
        print(both.select("column", "epsilon", "noise", "recall", ahead=ahead / error))


def exact_counts(column: Column) -> dict[Any, int]:
    """Return the people of every key without a limit: the truth."""
    names = [column.column] if isinstance(column.column, str) else column.column
    counted = column.rows.unique(["person", *names]).group_by(names).len()
    keys = counted.select(names).rows()
    return {
        (key[0] if len(names) == 1 else key): people
        for key, people in zip(keys, counted["len"].to_list(), strict=True)
    }


class Held:
    """The counts of a column, read once for many releases."""

    def __init__(self, asked: KeyRows, every: Counted) -> None:
        self.asked, self.every = asked, every
        keys = every.keys_at(np.arange(every.people.size))
        self.known = dict(zip(keys, every.people.tolist(), strict=True))

    def largest(self, size: int) -> Held:
        """Return the keys that most people have, in order of their values."""
        places = np.sort(np.argsort(-self.every.people, kind="stable")[:size])
        keys, people = np.asarray(self.every.keys)[places], self.every.people[places]
        return Held(self.asked, Counted(keys, people, self.every.columns))

    def of(self, candidates: Sequence[Any], _groups: object) -> list[Indices]:
        return [np.array([self.known.get(key, 0) for key in candidates])]

    def parts(self, _least: int = 1) -> list[tuple[None, Counted]]:
        return [(None, self.every)]


def methods(column: Column, epsilon: float) -> dict[str, Callable[[], list[Any]]]:
    """Return draws of the top, as functions that make one each; the rows are read once."""
    held = held_of(column)
    candidates = column.domain or list(held.known)
    top = dp.TopKeys(
        k=K, candidates=candidates, **column.asked, epsilon=epsilon, neighbours=ADDED
    )
    draw_top = top.design().drawing(held)  # type: ignore[arg-type]
    return {
        "public candidates": lambda: list(draw_top(top.plan).answer),
        **unknown(held, column, epsilon),
    }


def unknown(held: Held, column: Column, epsilon: float) -> dict[str, Callable[[], list[Any]]]:
    """Return draws of the top of keys that are not public."""
    shared: dict[str, Any] = {**column.asked, "epsilon": epsilon, "neighbours": ADDED}

    def of_keys(method: Any) -> Callable[[], list[Any]]:  # noqa: ANN401 -- a name of a method
        keys = dp.Keys(**shared, delta=DELTA, method=method)
        draw = keys.design().drawing(held)  # type: ignore[arg-type]

        def largest() -> list[Any]:
            release = draw(keys.plan)
            noisy = dict(zip(release.answer, release.counts or (), strict=True))
            return sorted(noisy, key=lambda key: -noisy[key])[:K]

        return largest

    # At OpenDP's threshold a count is released, which its privacy map leaves out.
    scale, threshold = peer_threshold(epsilon, column.max_per_user)
    draw = peer(scale, threshold + 1)
    keys, by_place = list(held.known), dict(enumerate(held.known.values()))

    def of_opendp() -> list[Any]:
        noisy = draw(by_place)
        return [keys[place] for place in sorted(noisy, key=lambda key: -noisy[key])[:K]]

    return {"laplace": of_keys("laplace"), "gaussian": of_keys("gaussian"), OPENDP: of_opendp}


@lru_cache(maxsize=1)
def held_of(column: Column) -> Held:
    """Return the counts of a column."""
    query = dp.Keys(**column.asked, epsilon=1.0, delta=DELTA, neighbours=ADDED)
    asked = KeyRows.of(query)
    [(_, every)] = asked.read(column.rows).parts()
    return Held(asked, every)


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
        "TopKeys, a row a person": lambda: dp.TopKeys(column="key", k=10, **price).release(
            rows
        ),
        "Keys, a row a person": lambda: dp.Keys(column="key", **price).release(rows),
        "distinct, group and sort, no privacy": lambda: (
            rows.lazy().unique().group_by("key").len().sort("len", descending=True).head(11)
        ).collect(),
        "TopKeys, 3 keys a person": lambda: dp.TopKeys(
            column="key", k=10, **limited, **price
        ).release(rows),
        "Keys, 3 keys a person": lambda: dp.Keys(column="key", **limited, **price).release(
            rows
        ),
    }
    dp.Keys(column="key", method="gaussian", **price).release(rows.head(1000))
    print(f"\nseconds for {size:,} rows and {rows['key'].n_unique():,} keys, polars\n")
    print("| what | seconds |\n|---|--:|")
    for name, run in runs.items():
        started = perf_counter()
        run()
        print(f"| {name} | {perf_counter() - started:.2f} |", flush=True)


def memory() -> None:
    """Print the most memory that releases from 10^8 rows of Parquet files ever had."""
    rng = np.random.default_rng(0)
    print(f"\n{LARGE:,} rows of a Parquet file, {LARGE_KEYS:,} keys\n")
    print("| what | engine | peak MiB | seconds |\n|---|---|--:|--:|")
    with TemporaryDirectory() as folder:
        for number in range(20):
            size = LARGE // 20
            keys = (LARGE_KEYS * rng.random(size) ** 3).astype(np.int64)
            persons = rng.integers(0, LARGE // 5, size)
            part = pl.DataFrame({"key": keys, "person": persons})
            part.write_parquet(Path(folder) / f"part-{number}.parquet")
        for engine, what in (
            ("polars", "TopKeys"),
            ("polars", "Keys"),
            ("duckdb", "TopKeys"),
            ("duckdb", PERSONS),
        ):
            command = [sys.executable, __file__, "--one", engine, what, folder]
            subprocess.run(command, check=True)  # noqa: S603 -- this very script


def measure(engine: str, what: str, folder: str) -> None:
    """Print what one release takes in this process."""
    rows: Any = folder
    if engine == "duckdb":
        import duckdb

        duckdb.execute(f"SET memory_limit = '600MB'; SET temp_directory = '{folder}/spilled'")
        rows = duckdb.read_parquet(f"{folder}/*.parquet")
    price: dict[str, Any] = {"epsilon": 1.0, "delta": DELTA, "neighbours": "add-remove"}
    started = perf_counter()
    if what == "TopKeys":
        dp.TopKeys(column="key", k=K, **price).release(rows)
    else:
        limited = {"user": "person", "max_per_user": 3} if what == PERSONS else {}
        dp.Keys(column="key", **limited, **price).release(rows)  # type: ignore[arg-type]
    seconds = perf_counter() - started
    status = Path("/proc/self/status").read_text().splitlines()
    peak = int(next(row for row in status if row.startswith("VmHWM")).split()[1]) / 1024
    print(f"| {what} | {engine} | {peak:.0f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(*sys.argv[2:])
        sys.exit()
    parts = {
        "people": people,
        "recall": recall,
        "show": show,
        "noise": noise,
        "behind": behind,
        "time": time,
        "memory": memory,
    }
    for part in sys.argv[1:] or ("people", "recall", "time"):
        parts[part]()
