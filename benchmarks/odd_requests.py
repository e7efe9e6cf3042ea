"""Hostile requests: memory and time that planning takes, and errors that are not ours.

Each request has a good query of a table with one or two fields replaced: by ranges of a
thousand million values, integers of 400 digits, lists of a million, nested lists, numbers that
are none. It is planned and checked against the schema of a small table, within 1 GB of memory
more than the library takes itself, and within 5 s of a processor; none may be killed, and no
error may be another than the library's. Run, in the folder of the project::

    python benchmarks/odd_requests.py --cases 10000

Writes ``benchmarks/results/odd_requests.csv``: by class of the query how many requests were
planned and refused, how many were killed or raised another error, which must be 0, and the
longest time and the most memory that one took.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import random
import resource
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import chdir
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results") / "odd_requests.csv"
MEMORY, SECONDS = 10**9, 5

AR = {"neighbours": "add-remove", "epsilon": 1.0}
BOX = {"x": "x", "y": "y", "bounds": [0, 0, 9, 9]}
TREE: dict[str, Any] = {
    "domains": {"x": {"low": 0, "high": 9, "bins": 3}, "a": {"values": ["u", "v"]}}
}
TREE |= {"label": "b", "classes": ["u", "v"], "max_records": 50}
EDGES = {"source": "i", "target": "j", "nodes": 9, "k": 1, "epsilon": 1.0}
PERSONS = {"user": "who", "max_per_user": 2}
QUERIES: list[dict[str, Any]] = [
    {"query": "TopKeys", "column": "a", "k": 1, "candidates": ["u", "v"], **AR},
    {"query": "TopKeys", "column": "a", "k": 1, "delta": 1e-6, **AR, **PERSONS},
    {
        "query": "TopKeys",
        "column": "a",
        "k": 1,
        "candidates": [1],
        "by": "b",
        "groups": ["u"],
        **AR,
    },
    {"query": "Keys", "column": ["a", "b"], "delta": 1e-6, **AR, **PERSONS},
    {"query": "Percentiles", "column": "x", "p": [25, 50], "upper": 9, "step": 0.5, **AR},
    {"query": "Percentiles", "column": "x", "p": 50, "candidates": [0, 3, 9], **AR, **PERSONS},
    {
        "query": "Percentiles",
        "column": "x",
        "p": 50,
        "upper": 9,
        "step": 1,
        "interval": 0.9,
        **AR,
    },
    {"query": "PercentileRecord", "column": "x", "p": 50, "upper": 9, "epsilon": 1.0},
    {"query": "HeavyCells", "grid": 4, "k": 1, **BOX, **AR},
    {"query": "Map", "grids": [2, 4], **BOX, **AR},
    {"query": "Map", "queries": [[0, 0, 1, 1]], "grids": [2], **BOX, **AR},
    {"query": "ID3Tree", "max_depth": 2, **TREE, **AR},
    {"query": "BestColumns", "k": 1, **TREE, **AR},
    {
        "query": "TreeFront",
        "population": 4,
        "survivors": 2,
        "front": 1,
        "generations": 1,
        **TREE,
        **AR,
    },
    {"query": "TopNodes", "metric": "degree", **EDGES},
    {"query": "TopNodes", "metric": "ego-betweenness", **EDGES},
    {"query": "Hubs", "metric": "ego-betweenness", **EDGES},
    {"query": "Levels", "column": "a", "tree": {"u": "1", "v": "1"}, **AR},
    {"query": "Subset", "column": "a", "positive": "u", "n": 2, "d": 1, "epsilon": 1.0},
]

HUGE = [10**5, 10**6, 10**7, 10**8, 10**9, 10**12, 2**53, 2**63, 10**19, 10**400]
NUMBERS = [0, 1, 2, -1, 0.5, 1e-9, 1e-300, 5e-324, 1e18, 1e300, 1.7e308, True, None, -0.0]
TAGGED = [
    *({"range": [0, one]} for one in HUGE),
    *(
        {"range": one}
        for one in ([0, 3], [0, 10**9, 7], [10**9, 0, -1], [0], [0, 1, 0], [], "a")
    ),
    *(
        {"decimal": one}
        for one in ("sNaN", "NaN", "1e999999", "-1e-999999", "0.1", "Infinity", 1)
    ),
    *({"float": one} for one in ("nan", "inf", "-inf", "x")),
    *({"date": one} for one in ("2020-01-01", "9999-12-31", "0001-01-01", "x", 1)),
    *({"datetime": one} for one in ("2020-01-01T00:00", "2020-01-01T00:00+01:00", "x")),
    *({"microseconds": one} for one in (0, 1, 10**30, 0.5)),
]
TEXTS = ["", "a", "u", "x", "who", "nope", "a\0", "\u202e", "$\\u$", "x" * 10**6, "1", "inf"]
KEYS = [*TEXTS, "name", "values", "low", "edges", "bins"]


def value(rng: random.Random, depth: int = 0) -> Any:  # noqa: ANN401 -- of JSON
    """Return a value that JSON can hold."""
    made: list[Callable[[], Any]] = [
        lambda: rng.choice(HUGE) * rng.choice([1, 1, 1, -1]),
        lambda: rng.choice(NUMBERS),
        lambda: rng.choice(TAGGED),
        lambda: rng.choice(TEXTS),
        lambda: [value(rng, depth + 1) for _ in range(rng.randrange(4))] if depth < 3 else [],
        lambda: {rng.choice(KEYS): value(rng, depth + 1)} if depth < 3 else {},
        lambda: [*range(rng.choice([10**3, 10**4, 10**5]))],
        lambda: [0] * rng.choice([10**3, 10**5, 10**6 + 1]) if depth == 0 else [],
        lambda: [*map(str, range(rng.choice([10**3, 10**5])))],
        lambda: nested(rng.choice([50, 500, 5000])),
        lambda: {"low": 0, "high": 1, "bins": rng.choice(HUGE)},
        lambda: {
            "name": rng.choice(["exponential", "noisy-sequence", "permute-and-flip", "x"])
        },
    ]
    return rng.choice(made)()


def nested(depth: int) -> Any:  # noqa: ANN401 -- of JSON
    """Return lists in lists."""
    held: Any = 1
    for _ in range(depth):
        held = [held]
    return held


def request(rng: random.Random) -> dict[str, Any]:
    """Return the tables of one request."""
    query = {**rng.choice(QUERIES)}
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(
            [*query, "method", "interval", "mechanism", "delta", "other", "limit"]
        )
        if name != "query":
            query[name] = value(rng)
    if isinstance(query.get("tree"), dict) and rng.random() < 0.1:
        query["tree"] = {str(at): str(at % 99) for at in range(10**5)}
    queries = [query]
    if rng.random() < 0.02:
        queries *= rng.choice([100, 1_000, 20_000])
    return {"data": {"path": "rows.parquet"}, "queries": queries}


def tried(rng: random.Random) -> tuple[str, str]:
    """Return the class of a query, and what became of its request."""
    import dpselect as dp
    from dpselect.errors import DPSelectError

    asked = request(rng)
    name = str(asked["queries"][0]["query"])
    try:
        dp.Request.from_dict(asked).check()
    except DPSelectError as error:
        return name, "refused" if len(str(error)) < 10_000 else "long"
    except BaseException as error:  # noqa: BLE001 -- it is counted
        return name, f"foreign {type(error).__name__}"
    return name, "planned"


def serve(seeds: range, answers: Connection) -> None:
    """Try requests, one after another, and say of each what it took."""
    import dpselect as dp

    for query in QUERIES:
        dp.Request.from_dict({"data": {"path": "rows.parquet"}, "queries": [query]}).check()
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = taken * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for seed in seeds:
        answers.send(seed)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        name, outcome = tried(random.Random(seed))  # noqa: S311 -- which request
        signal.setitimer(signal.ITIMER_PROF, 0)
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        answers.send((seed, name, outcome, time.process_time() - began, more * 1024))


def outcomes(seeds: range) -> list[tuple[int, str, str, float, int]]:
    """Return what became of each request, in processes that may be killed."""
    found: list[tuple[int, str, str, float, int]] = []
    while seeds:
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(target=serve, args=(seeds, there))
        process.start()
        there.close()
        last: int | None = None
        try:
            while True:
                heard = here.recv()
                if isinstance(heard, int):
                    last = heard
                else:
                    found.append(heard)
        except EOFError:
            process.join()
        if last is None:
            raise RuntimeError("a good request is refused, or needs too much memory")
        done = found[-1][0] + 1 if found else seeds.start
        if done < seeds.stop:
            name = str(request(random.Random(last))["queries"][0]["query"])  # noqa: S311
            found.append((last, name, f"killed {process.exitcode}", float(SECONDS), 0))
            done = last + 1
        seeds = range(done, seeds.stop)
    return found


def main() -> None:
    """Try requests, write the table and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    out = asked.out.resolve()
    os.environ["POLARS_MAX_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        rows = multiprocessing.get_context("fork").Process(target=write_rows)
        rows.start()
        rows.join()
        found = outcomes(range(asked.first, asked.first + asked.cases))
    names = sorted({name for _, name, *_ in found})
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            [
                "query",
                "requests",
                "planned",
                "refused",
                "killed",
                "foreign",
                "seconds",
                "megabytes",
            ]
        )
        for name in names:
            some = [one for one in found if one[1] == name]
            kinds = [outcome.split()[0] for _, _, outcome, _, _ in some]
            counts = [kinds.count(one) for one in ("planned", "refused", "killed", "foreign")]
            longest = max(one[3] for one in some)
            largest = max(one[4] for one in some) / 1e6
            writer.writerow([name, len(some), *counts, f"{longest:.2f}", f"{largest:.0f}"])
    for seed, name, outcome, seconds, memory in found:
        if outcome not in {"planned", "refused"} or memory > 200e6:
            print(seed, name, outcome, f"{seconds:.2f} s, {memory / 1e6:.0f} MB")


def write_rows() -> None:
    """Write the table that the requests are of."""
    import polars as pl

    columns = {"x": [1.0, 2.0], "y": [1.0, 2.0], "i": [0, 1], "j": [1, 2], "who": [1, 2]}
    pl.DataFrame({**columns, "a": ["u", "v"], "b": ["u", "v"]}).write_parquet("rows.parquet")


if __name__ == "__main__":
    main()
