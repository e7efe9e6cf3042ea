"""Mutants of the rooms that a guarantee rests on: which of them the fast tests see.

Run, in the folder of the project::

    python benchmarks/mutants.py --mutants 60 [--rooms draws budget] [--seed 1]

A mutant is one change inside of a function: a comparison, a sign, a number, a condition. Each
room gets as many, of places that a seed draws. All are in one copy of the project, and a
variable of the environment turns one of them on, so that one run of the fast tests of a room
tells which tests reach which mutant. Those that do run first, the fastest first, until one
fails; then all of the room, and those of other rooms that name most of the module. Writes
``benchmarks/results/mutants.csv``. What was seen before is not tried again. A survivor is a
change that none of these tests sees. One that changes nothing that can be seen has the reason
beside it, written by hand; it is kept when the same mutant is drawn again.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import csv
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results") / "mutants.csv"
ROOMS = ("draws", "percentiles", "keys", "tables", "budget")
COPIED = ("src", "tests", "packages", "studies", "docs", "benchmarks", "examples")
FILES = ("pyproject.toml", "conftest.py", "README.md", "CONTRIBUTING.md")
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
CHANGED = (ast.Compare, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Constant, ast.Call)
SKIPPED = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Lambda, ast.pattern)
"""Texts of errors, and functions without a name, which kernels may be."""

FURTHER = 3
"""Test files of other rooms, for what those of its own do not see."""

PATIENCE = 300
"""Seconds of a processor after which a mutant counts as seen: it does not end."""


@dataclass(frozen=True)
class Mutant:
    """One change, and whether a fast test saw it."""

    file: str
    line: int
    was: str
    became: str
    outcome: str = ""
    reason: str = ""
    seconds: float = 0.0

    def key(self) -> tuple[str, str, str]:
        """What tells a mutant from others, whatever stands above it."""
        return self.file, self.was, self.became


@dataclass(frozen=True)
class Site:
    """A place in a file and what could stand there."""

    path: Path
    node: ast.expr
    became: str

    @property
    def mutant(self) -> Mutant:
        """What is stored of it."""
        file = self.path.relative_to(ROOT / "src" / "dpselect").as_posix()
        return Mutant(file, self.node.lineno, ast.unparse(self.node), self.became)


def changed(node: ast.expr) -> str | None:
    """Return an expression with one change, or None where there is none."""
    other = ast.parse(ast.unparse(node), mode="eval").body
    if isinstance(other, ast.Compare) and type(other.ops[0]) in SWAPPED:
        other.ops[0] = SWAPPED[type(other.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(other, ast.BinOp | ast.BoolOp) and type(other.op) in SWAPPED:
        other.op = SWAPPED[type(other.op)]()  # type: ignore[assignment]
    elif isinstance(other, ast.UnaryOp) and isinstance(other.op, ast.Not | ast.USub):
        other = other.operand
    elif isinstance(other, ast.Constant) and type(other.value) in {int, float}:
        return ast.unparse(ast.BinOp(other, ast.Add(), ast.Constant(1)))
    elif isinstance(other, ast.Call) and ast.unparse(other.func) in NAMES:
        other.func = ast.Name(NAMES[ast.unparse(other.func)])
    else:
        return None
    return ast.unparse(other)


def is_compiled(node: ast.AST) -> bool:
    """Return whether it is a function whose code is not Python's when it runs."""
    return isinstance(node, ast.FunctionDef) and any(
        "compiled" in ast.unparse(one) for one in node.decorator_list
    )


def inside(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions below a statement that are Python's when they run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, SKIPPED) or is_compiled(child):
            continue
        if isinstance(child, CHANGED):
            yield child
        yield from inside(child)


def bodies(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of all functions of a module or class."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from bodies(child)
        elif isinstance(child, ast.FunctionDef) and not is_compiled(child):
            yield from child.body


def sites(path: Path) -> Iterator[Site]:
    """Yield the places inside of functions that can be changed."""
    for statement in bodies(ast.parse(path.read_text("utf-8"))):
        for node in inside(statement):
            became = changed(node)
            if became is not None:
                yield Site(path, node, became)


def sampled(room: str, number: int, seed: int) -> list[Site]:
    """Return so many places of a room, of which none is inside of another."""
    files = sorted((ROOT / "src" / "dpselect" / room).rglob("*.py"))
    every = [site for path in files for site in sites(path)]
    random.Random(f"{seed} {room}").shuffle(every)  # noqa: S311 -- a sample
    found: list[Site] = []
    for site in every:
        lines = {(one.path, one.node.lineno) for one in found}
        if len(found) < number and (site.path, site.node.lineno) not in lines:
            found.append(site)
    return found


def planted(copy: Path, places: list[Site]) -> None:
    """Write all mutants into a copy of the project, each behind its switch."""
    by_path = defaultdict(list)
    for number, site in enumerate(places):
        by_path[site.path].append((number, site))
    for path, some in by_path.items():
        lines = path.read_bytes().splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        text = b"".join(lines)
        for number, site in sorted(some, key=lambda pair: -pair[1].node.lineno):
            node = site.node
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            was = text[begin:end]
            both = f"(({site.became}) if _mutant({number}) else (".encode() + was + b"))"
            text = text[:begin] + both + text[end:]
        ast.parse(text)
        (copy / path.relative_to(ROOT)).write_bytes(text)


REACHED: dict[int, set[str]] = defaultdict(set)
SECONDS: dict[str, float] = {}
NOW = ["import"]


def switch(number: int) -> bool:
    """Return whether a mutant is on; note by which test it was reached."""
    REACHED[number].add(NOW[0])
    return number == int(os.environ["MUTANT"])


def pytest_runtest_logstart(nodeid: str) -> None:
    """Note which test runs; a hook of pytest."""
    NOW[0] = nodeid


def pytest_runtest_logreport(report: Any) -> None:  # noqa: ANN401 -- pytest's
    """Note how long a test took; a hook of pytest."""
    SECONDS[report.nodeid] = SECONDS.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish() -> None:
    """Write what was reached; a hook of pytest."""
    if "REACHED" in os.environ:
        found = {number: sorted(tests) for number, tests in REACHED.items()}
        Path(os.environ["REACHED"]).write_text(json.dumps([found, SECONDS]), "utf-8")


if "MUTANT" in os.environ:
    vars(builtins)["_mutant"] = switch


def impatient() -> None:
    """End this process after some time on a processor, however busy the machine is."""
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))


def passed(copy: Path, number: int, tests: list[str], **more: str) -> bool:
    """Return whether tests pass, and end, with one mutant on."""
    folders = [copy / "benchmarks", copy / "src", *copy.glob("packages/*/src")]
    (copy / "asked.txt").write_text("\n".join(tests), "utf-8")
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "reached", "-m", "not slow"]
    threads = {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    own = {"MUTANT": str(number), "PYTHONPATH": os.pathsep.join(map(str, folders))}
    ended = subprocess.run(  # noqa: S603 -- our own command
        [*command, "-p", "no:cacheprovider", "@asked.txt"],
        cwd=copy,
        env={**os.environ, **threads, **own, **more},
        capture_output=True,
        preexec_fn=None if more else impatient,
        check=False,
    )
    return ended.returncode == 0


def tried(copy: Path, room: str, places: list[tuple[int, Site]]) -> Iterator[Mutant]:
    """Yield what became of the mutants of a room, each with its number."""
    whole, told = [f"tests/{room}"], copy / "reached.json"
    if not passed(copy, -1, whole, REACHED=str(told)):
        sys.exit(f"the fast tests of {room} must pass without a change")
    reached, seconds = json.loads(told.read_text("utf-8"))
    for number, site in places:
        began, near = time.perf_counter(), reached.get(str(number), [])
        tests = sorted({*near} - {"import"}, key=lambda one: float(seconds.get(one, 0)))
        runs = (tests, whole if near else [], elsewhere(site.path, room))
        fine = all(passed(copy, number, some) for some in runs if some)
        took = round(time.perf_counter() - began, 1)
        yield replace(site.mutant, outcome="survived" if fine else "seen", seconds=took)


def elsewhere(path: Path, room: str) -> list[str]:
    """Return the tests of other rooms that name most of what a module defines."""
    kinds = ast.FunctionDef | ast.ClassDef
    tree = ast.parse(path.read_text("utf-8"))
    names = [one.name for one in ast.walk(tree) if isinstance(one, kinds)]
    word = re.compile(rf"\b({'|'.join(names)})\b")
    found = {
        one.relative_to(ROOT).as_posix(): len(set(word.findall(one.read_text("utf-8"))))
        for one in (ROOT / "tests").rglob("test_*.py")
    }
    most = sorted((one for one in found if found[one]), key=lambda one: -found[one])
    return [one for one in most if not one.startswith(f"tests/{room}/")][:FURTHER]


def stored() -> list[Mutant]:
    """Return the lines of the table."""
    with RESULTS.open(newline="", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    numbers = ({"line": int(row["line"]), "seconds": float(row["seconds"])} for row in rows)
    return [Mutant(**{**row, **one}) for row, one in zip(rows, numbers, strict=True)]  # type: ignore[arg-type]


def written(found: list[Mutant]) -> None:
    """Write the table."""
    with RESULTS.open("w", newline="", encoding="utf-8") as table:
        writer = csv.DictWriter(table, [one.name for one in fields(Mutant)])
        writer.writeheader()
        writer.writerows(asdict(one) for one in sorted(found, key=Mutant.key))


def main() -> None:
    """Try the sample, and write and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--rooms", nargs="*", default=ROOMS)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    each = -(-asked.mutants // len(asked.rooms))
    places = [site for room in asked.rooms for site in sampled(room, each, asked.seed)]
    known = {one.key(): one for one in stored()} if RESULTS.exists() else {}
    drawn = {site.mutant.key() for site in places}
    others = {key for key, one in known.items() if one.file.split("/")[0] not in asked.rooms}
    found = {key: one for key, one in known.items() if key in drawn | others}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.pyc"))
        for name in FILES:
            shutil.copy(ROOT / name, copy / name)
        planted(copy, places)
        # Programs that tests start have the switch too.
        (copy / "benchmarks" / "sitecustomize.py").write_text("import mutants\n", "utf-8")
        (copy / "benchmarks" / "reached.py").write_text("from mutants import *\n", "utf-8")
        for room in asked.rooms:
            of_room = [
                (number, site)
                for number, site in enumerate(places)
                if site.mutant.file.startswith(f"{room}/")
                and getattr(known.get(site.mutant.key()), "outcome", "") != "seen"
            ]
            for one in tried(copy, room, of_room) if of_room else ():
                reason = found[one.key()].reason if one.key() in found else ""
                found[one.key()] = replace(one, reason=reason)
                print(found[one.key()], flush=True)
                written(list(found.values()))
    for (room, outcome), number in sorted(
        Counter((one.file.partition("/")[0], one.outcome) for one in found.values()).items()
    ):
        print(f"{room}: {number} {outcome}")


if __name__ == "__main__":
    main()
