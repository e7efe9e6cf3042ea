"""``dpselect audit``: check an objective or a mechanism of one's own by enumeration."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from dpselect.errors import DPSelectError, ParameterError, no_file
from dpselect.extend import output

Database: TypeAlias = Hashable


def audit(file: Path, *, as_json: bool = False) -> int:
    """Check an objective or a mechanism of your own on every pair of neighbours.

    The pairs are those of a small universe of databases; the worst is reported. FILE.py is run.
    It must define `universe`, a list of tens to a few thousand synthetic databases;
    `neighbours`, a relation such as "add-remove" or a function (x, y) -> bool; and at least one
    of

    `objective(x)`: the Objective of a database; its sensitivity is checked. With `mechanism`, a
    dpselect mechanism, its distribution is checked as well.

    `probabilities(x)` and `epsilon`: the probabilities of all outcomes on a database, and the
    claimed epsilon.

    `release(x)`: makes a release that carries its plan; it is replayed on every pair.

    The exit code is 0 if all claims hold and 1 if one does not.

    $ dpselect audit mine.py

    Args:
        file: Python code; it is run.
    """
    if not file.is_file():
        raise no_file(file)
    with _code_of(file):
        defined = runpy.run_path(str(file), run_name="dpselect_audit")
        checks = [*_checks(defined, file)]
    ok = all(is_ok for _, is_ok, _ in checks)
    if as_json:
        shown = [dict(zip(("check", "ok", "report"), one, strict=True)) for one in checks]
        output.print_json({"ok": ok, "checks": shown})
    else:
        for name, _, report in checks:
            # Not by rich, which would take brackets of a database for its markup.
            print(f"{name}: {report}")  # noqa: T201
    return 0 if ok else 1


NEEDS = {"mechanism": "objective", "probabilities": "epsilon"}
"""What a file must define beside a name."""


def _check(defined: dict[str, Any], file: Path) -> None:
    """Raise unless a file defines what a check needs."""
    for name in ("universe", "neighbours"):
        if name not in defined:
            raise ParameterError(f"{file} must define {name}")
    if not {"objective", "probabilities", "release"} & defined.keys():
        raise ParameterError(
            f"{file} must define objective(x), probabilities(x) with epsilon, or release(x)"
        )
    for name, needed in NEEDS.items():
        if name in defined and needed not in defined:
            raise ParameterError(f"{file} defines {name}, which needs {needed}")


def _checks(defined: dict[str, Any], file: Path) -> Iterator[tuple[str, bool, str]]:
    """Run the checks that the names in a file ask for; whether each holds, and its report."""
    from dpselect_conformance import check_admissible, check_private

    _check(defined, file)
    pairs, laws = (list(defined["universe"]), defined["neighbours"]), {}
    if "objective" in defined:
        report: Any = check_admissible(defined["objective"], *pairs)
        yield "objective", report.ok, str(report)
    if "mechanism" in defined:
        objective, mechanism = defined["objective"], defined["mechanism"]
        laws["mechanism"] = lambda x: mechanism.probabilities(objective(x)), mechanism.epsilon
    if "probabilities" in defined:
        laws["probabilities"] = defined["probabilities"], defined["epsilon"]
    for name, (law, epsilon) in laws.items():
        report = check_private(law, *pairs, epsilon)
        yield name, report.ok, str(report)
    if "release" in defined:
        yield "release", *_replayed(defined["release"], *pairs)


def _replayed(
    release: Callable[[Database], object], universe: Iterable[Database], neighbours: Any
) -> tuple[bool, str]:
    """Replay a release on every pair of neighbours, and return the worst pair."""
    from dpselect_conformance import replay
    from dpselect_conformance.objectives.universe import build

    space = build(universe, neighbours)
    found = []
    for pair in zip(space.left, space.right, strict=True):
        x, y = (space.databases[at] for at in pair)
        found.append((replay(release, x, y), x, y))
    if not found:
        raise ParameterError("the universe has no pair of neighbours")
    report, x, y = max(found, key=lambda one: (not one[0].ok, one[0].share))
    worst = f"the worst of {len(found)} pairs is x = {x!r} and y = {y!r}"
    return report.ok, f"{report}; {worst}"


@contextmanager
def _code_of(file: Path) -> Iterator[None]:
    """Put the folder of a file on the path; an error of its code names the line."""
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    except DPSelectError:
        raise
    except Exception as error:
        where = _line(error, file)
        kind = type(error).__name__
        raise ParameterError(f"{file} fails{where}: {kind}: {error}") from error
    finally:
        sys.path.remove(folder)


def _line(error: Exception, file: Path) -> str:
    if isinstance(error, SyntaxError):
        return f" in line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f" in line {lines[-1]}" if lines else ""
