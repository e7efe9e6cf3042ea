"""Mutants of the rooms that a guarantee rests on: which of them the fast tests see.

Run, in the folder of the project::

    python benchmarks/mutants.py --mutants 60 [--seed 1]

A mutant is one change inside of a function: a comparison, a sign, a number, a condition. Each
room gets as many, of places that a seed draws one by one, so that a change of the source moves
no other place in or out. All are in one copy of the project, and a variable of the environment
turns one of them on, so that one run of the fast set tells which tests reach which mutant,
those of other rooms and the programs that tests start among them. Tests of the room run first,
the fastest first, until one fails; then those of other rooms; then all of the room, since what
is kept from one test to the next is reached by one of them only. Writes
``benchmarks/results/mutants.csv``. What was seen before is not tried again. A survivor is a
change that no fast test sees. One that changes nothing that can be seen has the reason beside
it, written by hand; it is kept when the same mutant is drawn again.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import builtins
import csv
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "dpselect"
RESULTS = Path(__file__).with_name("results") / "mutants.csv"
ROOMS = ("draws", "percentiles", "keys", "tables", "budget")
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

PATIENCE = 60
"""Seconds of a processor, beside five times those without a change, after which a mutant counts
as seen: it does not end."""


@dataclass(frozen=True)
class Mutant:
    """One change, and whether a fast test saw it."""

    file: str
    function: str
    was: str
    became: str
    outcome: str = ""
    reason: str = ""

    def key(self) -> tuple[str, str, str, str]:
        """What tells a mutant from others, whatever stands above it."""
        return self.file, self.function, self.was, self.became


@dataclass(frozen=True)
class Site:
    """A place in a file and what could stand there."""

    path: Path
    node: ast.expr
    mutant: Mutant


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


def functions(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield all functions of a module or class, with their names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from functions(child, f"{within}{child.name}.")
        elif isinstance(child, ast.FunctionDef) and not is_compiled(child):
            yield within + child.name, child


def sites(path: Path) -> Iterator[Site]:
    """Yield the places inside of functions that can be changed."""
    for name, function in functions(ast.parse(path.read_text("utf-8"))):
        for statement in function.body:
            for node in inside(statement):
                became = changed(node)
                if became is not None:
                    file, was = path.relative_to(SOURCE).as_posix(), ast.unparse(node)
                    yield Site(path, node, Mutant(file, name, was, became))


def sampled(room: str, number: int, seed: int) -> list[Site]:
    """Return so many places of a room, of which none is inside of another."""
    files = sorted((SOURCE / room).rglob("*.py"))
    every = [site for path in files for site in sites(path)]
    every.sort(key=lambda site: random.Random(f"{seed} {site.mutant.key()}").random())  # noqa: S311 -- a sample
    found: list[Site] = []
    taken: set[object] = set()
    for site in every:
        own = {(site.path, site.node.lineno), site.mutant.key()}
        if len(found) < number and not own & taken:
            found.append(site)
            taken |= own
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
            both = f"(({site.mutant.became}) if _mutant({number}) else (".encode() + was + b"))"
            text = text[:begin] + both + text[end:]
        ast.parse(text)
        (copy / path.relative_to(ROOT)).write_bytes(text)


REACHED: dict[int, set[str]] = defaultdict(set)
SECONDS: dict[str, float] = {}
BEGAN = time.time_ns()


def switch(number: int) -> bool:
    """Return whether a mutant is on; note by which test it was reached."""
    if "REACHED" in os.environ:
        REACHED[number].add(os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0])
    return number == int(os.environ.get("MUTANT", "-1"))


def pytest_runtest_logstart(nodeid: str) -> None:
    """Note when a test begins, in seconds of a processor; a hook of pytest."""
    SECONDS[nodeid] = -sum(os.times()[:4])


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Note how long it took; a hook of pytest."""
    SECONDS[nodeid] += sum(os.times()[:4])


def pytest_runtest_logreport(report: Any) -> None:  # noqa: ANN401 -- pytest's
    """Note what fails, such as a test of the source itself; a hook of pytest."""
    if report.failed:
        SECONDS[report.nodeid] = inf


def pytest_sessionfinish() -> None:
    """Write what was noted in this process, a test's or one that a test started."""
    if "REACHED" in os.environ:
        reached = {number: sorted(tests) for number, tests in REACHED.items()}
        path = Path(os.environ["REACHED"]) / f"{os.getpid()}-{BEGAN}.json"
        path.write_text(json.dumps([reached, SECONDS]), "utf-8")


def ready() -> None:
    """Put the switch where mutants find it; what every process of a copy begins with."""
    vars(builtins)["_mutant"] = switch
    atexit.register(pytest_sessionfinish)


def run(copy: Path, number: int, *options: str, seconds: float, **more: str) -> int:
    """Return what pytest ends with, with one mutant on, or the signal that ended it."""
    folders = [copy / "benchmarks", copy / "src", *copy.glob("packages/*/src")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "reached", "-m", "not slow"]
    threads = {"OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    own = {"MUTANT": str(number), "PYTHONPATH": os.pathsep.join(map(str, folders))}
    limit = int(PATIENCE + 5 * seconds)
    return subprocess.run(  # noqa: S603 -- our own command
        [*command, "-p", "no:cacheprovider", *options],
        cwd=copy,
        env={**os.environ, **threads, **own, **more},
        capture_output=True,
        # However busy the machine is.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        check=False,
    ).returncode


@dataclass(frozen=True)
class Tests:
    """The tests that pass without a change: their seconds, and which mutants they reach."""

    seconds: dict[str, float]
    reached: dict[int, set[str]]

    @classmethod
    def of(cls, copy: Path) -> Tests:
        """Run all of them, on all processors."""
        with tempfile.TemporaryDirectory() as folder:
            options = ("--numprocesses=auto", "--dist=loadfile")
            run(copy, -1, *options, seconds=3600, REACHED=folder)
            notes = [json.loads(one.read_text("utf-8")) for one in Path(folder).iterdir()]
        seconds: dict[str, float] = defaultdict(float)
        reached: dict[int, set[str]] = defaultdict(set)
        for numbers, took in notes:
            for test, one in took.items():
                seconds[test] += one
            for number, tests in numbers.items():
                reached[int(number)] |= {*tests}
        passed = {one: took for one, took in seconds.items() if isfinite(took)}
        print(
            f"{len(passed)} tests, {sum(passed.values()):.0f} seconds; without",
            *seconds - passed.keys(),
        )
        return cls(passed, reached)

    def sees(self, copy: Path, room: str, number: int) -> bool:
        """Return whether one of them fails with a mutant on."""
        near = self.reached[number] & {*self.seconds}
        own = {one for one in self.seconds if one.startswith(f"tests/{room}/")}
        return any(
            self.fails(copy, number, some)
            for some in (near & own, near - own, own if near else set())
        )

    def fails(self, copy: Path, number: int, some: set[str]) -> bool:
        """Return whether one of some tests fails, the fastest first."""
        asked = sorted(some, key=lambda one: (self.seconds[one], one))
        (copy / "asked.txt").write_text("\n".join(asked), "utf-8")
        seconds = sum(self.seconds[one] for one in some)
        return bool(some) and run(copy, number, "-x", "@asked.txt", seconds=seconds) != 0


def stored() -> dict[tuple[str, str, str, str], Mutant]:
    """Return the lines of the table."""
    with RESULTS.open(newline="", encoding="utf-8") as table:
        found = [Mutant(**row) for row in csv.DictReader(table)]
    return {one.key(): one for one in found}


def written(found: list[Mutant]) -> None:
    """Write the table."""
    with RESULTS.open("w", newline="", encoding="utf-8") as table:
        writer = csv.DictWriter(table, asdict(found[0]))
        writer.writeheader()
        writer.writerows(asdict(one) for one in sorted(found, key=Mutant.key))


def main() -> None:
    """Try the sample, and write and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    each = -(-asked.mutants // len(ROOMS))
    places = [site for room in ROOMS for site in sampled(room, each, asked.seed)]
    known = stored()
    found = [known.get(site.mutant.key(), site.mutant) for site in places]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        hidden = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site")
        shutil.copytree(ROOT, copy, ignore=hidden, dirs_exist_ok=True)
        planted(copy, places)
        # Programs that tests start have the switch too.
        start = "import mutants\nmutants.ready()\n"
        (copy / "benchmarks" / "sitecustomize.py").write_text(start, "utf-8")
        (copy / "benchmarks" / "reached.py").write_text("from mutants import *\n", "utf-8")
        tests = Tests.of(copy)
        for number, one in enumerate(found):
            if one.outcome != "seen":
                seen = tests.sees(copy, one.file.partition("/")[0], number)
                found[number] = replace(one, outcome="seen" if seen else "survived")
                print(found[number], flush=True)
                written(found)
    print(Counter((one.file.partition("/")[0], one.outcome) for one in found))


if __name__ == "__main__":
    main()
