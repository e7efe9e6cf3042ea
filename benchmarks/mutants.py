"""Mutants of the modules that a guarantee rests on: which of them the fast tests see.

Needs cosmic-ray, which makes the mutants, beside the tools of the tests. Run, in the folder of
the project, with as many mutants of each file as there is time for::

    pip install cosmic-ray
    python benchmarks/mutants.py --each 2 [--files tables/where.py levels] [--lines 'scale|cap']

Each mutant is one change of one file in a copy of the project. The test files of its package
that name most of what it defines run first, and then all fast tests of the package, until one
fails. What is stored is kept while the line that was changed is in its file. Mutants are
sampled with a seed, of all lines or of those that a pattern finds. Those that change
annotations or docstrings alone are none, nor are bits in place of arithmetic, which mostly
raise. Writes ``benchmarks/results/mutants.csv``. A survivor is a change that no fast test sees:
the slow ones may. Those that change nothing that can be seen have the reason beside them,
written by hand; it is kept when the same mutant is drawn again.
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast  # type: ignore[import-not-found]
from cosmic_ray.mutating import mutate_code  # type: ignore[import-not-found]
from cosmic_ray.plugins import (  # type: ignore[import-not-found]
    get_operator,
    operator_names,
)

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("results") / "mutants.csv"
TESTS = {
    "draws": ("tests/draws", "tests/test_number_door.py"),
    "scaling": ("tests/scaling", "tests/test_number_door.py"),
    "budget": ("tests/budget",),
    "audit": ("tests/audit",),
    "keys/parts.py": ("tests/keys/test_by_group.py", "tests/keys/test_release.py"),
    "keys/reading.py": (
        "tests/keys/test_reading.py",
        "tests/keys/test_release.py",
        "tests/keys/test_grouped.py",
        "tests/series/test_series.py",
    ),
    "keys/rest.py": ("tests/keys/test_by_group.py", "tests/keys/test_release.py"),
    "keys/rounds.py": ("tests/keys/test_rounds.py",),
    "keys/selection.py": ("tests/keys/test_thresholds.py", "tests/keys/test_privacy.py"),
    "levels": ("tests/levels",),
    "mechanisms/score_intervals.py": ("tests/mechanisms/test_score_intervals.py",),
    "mechanisms/top_k.py": ("tests/mechanisms/test_top_k.py",),
    "percentiles/ends_first.py": ("tests/percentiles/test_ends_first.py",),
    "percentiles/binary_tree.py": (
        "tests/percentiles/test_halves.py",
        "tests/percentiles/test_by_group.py",
    ),
    "percentiles/split_tree.py": (
        "tests/percentiles/test_binary_tree.py",
        "tests/percentiles/test_halves.py",
    ),
    "series": ("tests/series",),
    "tables/collecting.py": ("tests/tables/test_collecting.py",),
    "tables/people.py": ("tests/tables/test_people.py",),
}
"""The fast tests of each package or file."""

COPIED = (
    "src",
    "tests",
    "packages",
    "studies",
    "docs",
    "benchmarks",
    "pyproject.toml",
    "conftest.py",
)
RAISES = re.compile(
    "_(Add|Sub|Mul|Div|FloorDiv|Mod|Pow|Eq|NotEq|Lt|LtE|Gt|GtE)"
    "_(BitOr|BitAnd|BitXor|LShift|RShift|Is|IsNot)$"
)
"""Operators that mostly make a type error."""

NEAREST = 2
"""Test files that run before the others of a package."""

PATIENCE = 600
"""Seconds after which a mutant counts as seen: it does not end."""


@dataclass(frozen=True)
class Mutant:
    """One change, and whether a fast test saw it."""

    file: str
    line: int
    operator: str
    was: str
    became: str
    outcome: str
    equivalent: str
    seconds: float

    def key(self) -> tuple[str, str, str]:
        """What tells a mutant from others, whatever stands above it."""
        return self.file, self.was, self.became


def meaning(source: str) -> str | None:
    """Return what a module does, without annotations and docstrings; None if it is none."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    return ast.dump(tree)


def sites(file: Path) -> Iterator[tuple[str, int]]:
    """Yield the operators that can change a file, with the number of each place."""
    nodes = list(ast_nodes(get_ast(file.read_text(encoding="utf-8"))))
    for name in operator_names():
        operator = _operator(name)
        if operator is None:
            continue
        places = sum(len(list(operator.mutation_positions(node))) for node in nodes)
        yield from ((name, place) for place in range(places))


def _operator(name: str) -> Any:  # noqa: ANN401 -- cosmic-ray's
    kind = get_operator(name)
    return None if getattr(kind, "arguments", tuple)() or RAISES.search(name) else kind()


def sampled(file: Path, number: int, seed: int, lines: str) -> Iterator[tuple[Path, str, str]]:
    """Yield so many mutants of a file: the file, the operator and the text."""
    source = file.read_text(encoding="utf-8")
    every = list(sites(file))
    random.Random(f"{seed} {file.relative_to(ROOT)}").shuffle(every)  # noqa: S311 -- a sample
    found = 0
    for name, place in every:
        changed = mutate_code(source, _operator(name), place)
        if changed is None or meaning(changed) in {None, meaning(source)}:
            continue
        if not re.search(lines, change(source, changed)[1]):
            continue
        yield file, name, changed
        found += 1
        if found == number:
            return


def change(source: str, changed: str) -> tuple[int, str, str]:
    """Return the number of the first line that differs, and both."""
    pairs = zip(source.splitlines(), changed.splitlines(), strict=False)
    differ = ((i, a.strip(), b.strip()) for i, (a, b) in enumerate(pairs, 1) if a != b)
    return next(differ, (0, "", ""))


def nearest(file: Path, tests: tuple[str, ...]) -> list[str]:
    """Return the test files that name most of what a module defines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    kinds = ast.FunctionDef | ast.ClassDef
    names = {file.stem, *(one.name for one in ast.walk(tree) if isinstance(one, kinds))}
    words = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    found = {
        str(one.relative_to(ROOT)): len(set(words.findall(one.read_text(encoding="utf-8"))))
        for folder in tests
        for one in (
            [ROOT / folder] if folder.endswith(".py") else (ROOT / folder).rglob("*.py")
        )
    }
    return sorted((one for one in found if found[one]), key=lambda one: -found[one])[:NEAREST]


def tried(copy: Path, file: Path, name: str, changed: str, tests: tuple[str, ...]) -> Mutant:
    """Run the fast tests on one mutant."""
    there, source = copy / file.relative_to(ROOT), file.read_text(encoding="utf-8")
    line, was, became = change(source, changed)
    began = time.perf_counter()
    there.write_text(changed, encoding="utf-8")
    first = nearest(file, tests)
    try:
        passed = (not first or pass_in(copy, tuple(first))) and pass_in(copy, tests)
    finally:
        there.write_text(source, encoding="utf-8")
    where = str(file.relative_to(ROOT / "src" / "dpselect"))
    seconds = round(time.perf_counter() - began, 1)
    outcome = "survived" if passed else "seen"
    return Mutant(where, line, name.rpartition("/")[2], was, became, outcome, "", seconds)


def stored() -> list[Mutant]:
    """Return the lines of the table."""
    with RESULTS.open(newline="", encoding="utf-8") as table:
        return [
            Mutant(**{**row, "line": int(row["line"]), "seconds": float(row["seconds"])})  # type: ignore[arg-type]
            for row in csv.DictReader(table)
        ]


def stands(mutant: Mutant, file: Path) -> bool:
    """Return whether a file still has the line that was changed."""
    return file.is_file() and mutant.was in file.read_text(encoding="utf-8")


def pass_in(copy: Path, tests: tuple[str, ...]) -> bool:
    """Return whether tests pass in a copy of the project, and end."""
    paths = [copy / "src", *copy.glob("packages/*/src"), copy / "studies" / "src"]
    before = os.environ.get("PYTHONPATH", "")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(  # noqa: S603 -- our own command
            [*command, "-m", "not slow and not spark", *tests],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, paths), before])},
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> None:
    """Try the sample, and write and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--each", type=int, default=2, help="mutants of a file")
    parser.add_argument("--files", nargs="*", default=[""], help="or folders of the package")
    parser.add_argument("--lines", default="", help="a pattern of lines to change")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    source = ROOT / "src" / "dpselect"
    asked_for = tuple(str(source / one) for one in asked.files)
    files = [
        (file, tests)
        for name, tests in TESTS.items()
        for file in sorted(
            (source / name).rglob("*.py") if "." not in name else [source / name]
        )
        if str(file).startswith(asked_for)
    ]
    sample = [
        (*one, tests)
        for file, tests in files
        for one in sampled(file, asked.each, asked.seed, asked.lines)
    ]
    random.Random(asked.seed).shuffle(sample)  # noqa: S311 -- what is seen early is of all
    before = [one for one in stored() if stands(one, source / one.file)]
    known = {one.key(): one.equivalent for one in before}
    found: list[Mutant] = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            one = ROOT / name
            (shutil.copytree if one.is_dir() else shutil.copy)(one, copy / name)
        for tests in {tests: None for _, tests in files}:
            if not pass_in(copy, tests):
                sys.exit(f"{', '.join(tests)} must pass without a change")
        for mutant in sample:
            tested = tried(copy, *mutant)
            found.append(replace(tested, equivalent=known.get(tested.key(), "")))
            print(*astuple(found[-1]), sep="  ", flush=True)
            latest = {one.key(): one for one in (*before, *found)}
            written(list(latest.values()))
    outcomes = Counter((one.file.partition("/")[0], one.outcome) for one in found)
    for (package, outcome), number in sorted(outcomes.items()):
        print(f"{package}: {number} {outcome}")


def written(found: list[Mutant]) -> None:
    """Write the table."""
    with RESULTS.open("w", newline="", encoding="utf-8") as table:
        writer = csv.writer(table)
        writer.writerow([one.name for one in fields(Mutant)])
        writer.writerows(astuple(one) for one in sorted(found, key=Mutant.key))


if __name__ == "__main__":
    main()
