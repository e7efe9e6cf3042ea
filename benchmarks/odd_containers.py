"""Replays of every kind of release on pairs of odd containers: what one odd record changes.

A table of a few rows is held by a container, and once more with an odd record in any place: a
value of another type, one that cannot be printed, hashed or compared, a row of another length.
The release is made of the first, and replayed on the second with all noise frozen. Run, in the
folder of the project::

    python benchmarks/odd_containers.py --pairs 1000

Writes ``benchmarks/results/odd_containers.csv``: of each query and container the pairs, how
often both tables were refused (by their types), how often one has a key that the other has not,
which a replay cannot follow, and what must be 0: errors that are not ours,
texts with a private value, pairs of which one alone raises, and other faults that a replay
shows. ``share`` is the largest share of the budget that a pair used.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpselect as dp
from dpselect import trees
from dpselect.errors import DPSelectError
from dpselect_applications.tuning import PrivateSearchCV
from dpselect_conformance import replay

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results") / "odd_containers.csv"
sys.path.insert(0, str(ROOT / "tests"))
from support.odd_input import (  # type: ignore[import-not-found] # noqa: E402 -- beside tests
    MARKER,
    TEXT,
    observed,
)
from support.odd_records import (  # type: ignore[import-not-found] # noqa: E402
    EVERY,
    NAMED,
    ODDEST,
    ROWS,
    UNTYPED,
    VALUES,
    held_by,
)


class Unprintable:
    """Raises, and quotes a private value, whatever is asked of it."""

    def __str__(self) -> str:
        raise RuntimeError(TEXT)

    __repr__ = __float__ = __eq__ = __hash__ = __str__  # type: ignore[assignment]


MORE = ["\ud800", 10**5000, Unprintable(), TEXT, MARKER, float(MARKER), TEXT.encode()]
PEOPLE: dict[str, Any] = {"user": "who", "max_per_user": 1}
AR: dict[str, Any] = {"epsilon": 2.0, "neighbours": "add-remove"}
BOX: dict[str, Any] = {"bounds": (0, 0, 4, 4), "x": "x", "y": "y", "grid": 2}
CODES: dict[str, Any] = {
    "tree": {"a": "1", "b": "1", "n/a": "2", "é": "2"},
    "tuning_share": 0.5,
}
DOMAINS: dict[str, Any] = {
    "x": trees.Bins(0, 4, bins=2),
    "y": trees.Categories(["a", "b", "1"], other="b"),
}
PUBLIC: dict[str, Any] = {"classes": ["a", "b"], "max_records": 50, "max_depth": 1}
SURE: dict[str, Any] = {"delta": 1e-6}


def estimator(**more: Any) -> trees.ID3Classifier:  # noqa: ANN401
    """Return a tree of two columns by their places."""
    return trees.ID3Classifier(2.0, domains=list(DOMAINS.values()), **PUBLIC, **more)


def columns_of(data: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return two columns of a table in memory, and the last one as labels."""
    if isinstance(data, list):
        rows = [row if isinstance(row, list | tuple) else () for row in data]
        return [row[:2] for row in rows], [row[2] if len(row) > 2 else None for row in rows]
    return data[:, :2], data[:, 2]


def values_of(data: Any) -> Any:  # noqa: ANN401
    """Return the first column, or the values of a list."""
    if isinstance(data, list):
        rows = [row for row in data if isinstance(row, list | tuple)]
        return [row[0] if row else None for row in rows]
    return data[:, 0]


Release = Callable[[Any], Any]
TEXTS = ("text", "number", "text")
OF_COLUMNS: dict[str, tuple[tuple[str, str, str], Release]] = {
    "Keys": (TEXTS, dp.Keys(column="x", **SURE, **AR).release),
    "Keys of persons": (
        TEXTS,
        dp.Keys(column="x", user="who", max_per_user=1, **SURE, **AR).release,
    ),
    "TopKeys": (TEXTS, dp.TopKeys(column="x", k=1, candidates=["a", "b"], **AR).release),
    "TopKeys by group": (
        TEXTS,
        dp.TopKeys(
            column="x", k=1, candidates=["a", "b"], by="who", groups=["a"], **AR
        ).release,
    ),
    "Percentiles": (
        ("number", "number", "integer"),
        dp.Percentiles(column="x", p=[25, 50], candidates=range(5), **AR).release,
    ),
    "Percentiles of persons": (
        ("number", "number", "integer"),
        dp.Percentiles(column="x", p=50, candidates=range(5), **PEOPLE, **AR).release,
    ),
    "Percentiles from both ends": (
        ("number", "number", "integer"),
        dp.Percentiles(
            column="x",
            p=[1, 5, 50, 99],
            candidates=range(5),
            epsilon=9.0,
            neighbours="add-remove",
        ).release,
    ),
    "TopKeys with intervals": (
        TEXTS,
        dp.TopKeys(
            column="x",
            k=1,
            candidates=["a", "b"],
            mechanism="noisy-sequence",
            interval=0.9,
            **AR,
        ).release,
    ),
    "Levels": (TEXTS, dp.Levels(column="x", inner="own", **CODES, **AR).release),
    "Levels of persons": (TEXTS, dp.Levels(column="x", **PEOPLE, **CODES, **AR).release),
    "Levels of integers": (
        ("integer", "number", "text"),
        dp.Levels(column="x", tree={"0": "8", "1": "8", "2": "9", "3": "9"}, **AR).release,
    ),
    "HeavyCells": (("number", "number", "text"), dp.HeavyCells(k=1, **BOX, **AR).release),
    "HeavyCells of persons": (
        ("number", "number", "text"),
        dp.HeavyCells(k=1, outside="clip", **BOX, **PEOPLE, **AR).release,
    ),
    "ID3Tree": (
        ("number", "text", "text"),
        trees.ID3Tree(domains=DOMAINS, label="who", **PUBLIC, **AR).release,
    ),
    "TopNodes": (
        ("integer", "integer", "text"),
        dp.TopNodes(nodes=4, source="x", target="y", k=1, metric="degree", epsilon=2.0).release,
    ),
}
"""Queries of named columns, with the types of the columns where there are any."""

OF_VALUES: dict[str, Release] = {
    "Keys": lambda data: dp.Keys(**SURE, **AR).release(values_of(data)),
    "Percentiles": lambda data: dp.Percentiles(p=50, candidates=range(5), **AR).release(
        values_of(data)
    ),
    "Levels": lambda data: dp.Levels(**CODES, **AR).release(values_of(data)),
    "HeavyCells": lambda data: dp.HeavyCells(bounds=(0, 0, 4, 4), grid=2, k=1, **AR).release(
        columns_of(data)[0]
    ),
    "TopNodes": lambda data: dp.TopNodes(nodes=4, k=1, metric="degree", epsilon=2.0).release(
        columns_of(data)[0]
    ),
    "ID3Classifier": lambda data: estimator().fit(*columns_of(data)),
    "PrivateSearchCV": lambda data: PrivateSearchCV(
        estimator(), {"max_depth": [0, 1]}, epsilon=4.0, method="all", random_state=1
    ).fit(*columns_of(data)),
}
"""Queries of rows and values that have no names."""


def pair(
    rng: random.Random,
    container: str,
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    *,
    one_each: bool,
) -> tuple[Any, Any]:
    """Return a table of a few rows without an odd record and with it."""
    untyped = container in UNTYPED

    def value(kind: str) -> Any:  # noqa: ANN401
        if untyped and rng.random() < 0.3:
            odd = [None, *ODDEST, *MORE]
            # A file holds the text that a value is printed as.
            return (
                str(rng.choice(["n/a", "", TEXT, MARKER]))
                if container == "csv"
                else rng.choice(odd)
            )
        plain = [*VALUES[kind], *([TEXT] if kind == "text" else [])]
        return rng.choice(plain if container == "array" else [None, *plain])

    if container == "array":
        kinds = ("number",) * len(kinds)
    rows = [tuple(map(value, kinds)) for _ in range(rng.randrange(6))]
    odd: Any = tuple(map(value, kinds))
    if container in {"rows", "tuples"} and rng.random() < 0.2:
        odd = rng.choice(ROWS)
    if one_each:
        # The odd record is all that its person has.
        rows = [row for row in rows if not _same_person(row[-1], odd[-1] if odd else None)]
    place = rng.randrange(len(rows) + 1)
    there = [*rows[:place], odd, *rows[place:]]
    return tuple(held_by(container, names, kinds, one) for one in (rows, there))


def _same_person(one: object, other: object) -> bool:
    """Return whether two values may be one person: their texts are the same."""
    try:
        return str(one) == str(other)
    except Exception:  # noqa: BLE001 -- what cannot be printed is nobody
        return False


def tried(release: Release, x: Any, y: Any) -> tuple[str, float]:  # noqa: ANN401
    """Return what became of a pair, and the share of the budget that it used."""
    try:
        with observed() as seen:
            report = replay(release, x, y)
    except Exception:  # noqa: BLE001 -- it is counted
        return "foreign", 0.0
    if any(str(MARKER) in text or TEXT in text for text in seen.texts):
        return "told", 0.0
    if seen.error is not None:
        return _of_errors(release, y), 0.0
    # A table without a row that counts may leave nothing to draw.
    problems = {one for one in report.problems if not one.startswith("no sampler")}
    if any("bernoulli.select) has a number of inputs" in one for one in problems):
        # A key that one database alone has: its price is the plan's delta. The draws of the
        # first may end in an error there, its own do not.
        release(y)
        return "other keys", 0.0
    if any("is raised on one of the two" in one for one in problems):
        return "one raises", 0.0
    return "faults" if problems else "fine", report.share


def _of_errors(release: Release, y: Any) -> str:  # noqa: ANN401
    """Return whether the second table is refused as well as the first."""
    try:
        release(y)
    except DPSelectError:
        return "refused"
    return "one raises"


def measured(pairs: int, seed: int) -> list[dict[str, Any]]:
    """Return a row for each query and container."""
    cases = [
        (f"{name}, by column", container, ("x", "y", "who"), kinds, release)
        for name, (kinds, release) in OF_COLUMNS.items()
        for container in NAMED
    ] + [
        (name, container, ("x", "y", "who"), ("number", "text", "text"), release)
        for name, release in OF_VALUES.items()
        for container in EVERY
        if container in {"rows", "tuples", "objects", "array"}
    ]
    rows = []
    for name, container, names, kinds, release in cases:
        rng, outcomes, share = random.Random(f"{seed} {name} {container}"), Counter[str](), 0.0  # noqa: S311
        for _ in range(pairs):
            outcome, used = tried(
                release, *pair(rng, container, names, kinds, one_each="persons" in name)
            )
            outcomes[outcome] += 1
            share = max(share, used)
        columns = ("refused", "other keys", "foreign", "told", "one raises", "faults")
        rows.append(
            {"query": name, "container": container, "pairs": pairs}
            | {column: outcomes[column] for column in columns}
            | {"share": f"{share:.6f}"}
        )
        print(*rows[-1].values(), sep="  ", flush=True)
    return rows


def main() -> None:
    """Try all pairs, write the table and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=1000, help="of each query and container")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as tempfile.tempdir:
        rows = measured(asked.pairs, asked.seed)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    wrong = {
        c: sum(row[c] for row in rows) for c in ("foreign", "told", "one raises", "faults")
    }
    print(f"{sum(row['pairs'] for row in rows)} pairs: {wrong}")


if __name__ == "__main__":
    main()
