"""``dpselect audit``: check an objective or a mechanism of one's own by enumeration."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from dpselect.cli import output
from dpselect.cli.help import command
from dpselect.errors import DPSelectError, ParameterError, no_file

if TYPE_CHECKING:
    from dpselect.audit import ReplayReport

Database: TypeAlias = Hashable


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, audit)


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
        checks = list(_checks(defined, file))
    ok = all(check.ok for check in checks)
    if as_json:
        shown = [{"check": one.name, "ok": one.ok, "report": one.report} for one in checks]
        output.print_json({"ok": ok, "checks": shown})
    else:
        for check in checks:
            # Not by rich, which would take brackets of a database for its markup.
            print(f"{check.name}: {check.report}")  # noqa: T201
    return 0 if ok else 1


@dataclass(frozen=True, slots=True)
class _Check:
    name: str
    ok: bool
    report: str


def _checks(defined: dict[str, Any], file: Path) -> Iterator[_Check]:
    """Run the checks that the names in a file ask for."""
    from dpselect.audit import check_admissible, check_private

    for name in ("universe", "neighbours"):
        if name not in defined:
            raise ParameterError(f"{file} must define {name}")
    if not {"objective", "probabilities", "release"} & defined.keys():
        raise ParameterError(
            f"{file} must define objective(x), probabilities(x) with epsilon, or release(x)"
        )
    for name, needed in (("mechanism", "objective"), ("probabilities", "epsilon")):
        if name in defined and needed not in defined:
            raise ParameterError(f"{file} defines {name}, which needs {needed}")
    universe, neighbours = list(defined["universe"]), defined["neighbours"]
    if "objective" in defined:
        objective = defined["objective"]
        report = check_admissible(objective, universe, neighbours)
        yield _Check("objective", report.ok, str(report))
        if "mechanism" in defined:
            mechanism = defined["mechanism"]
            private = check_private(
                lambda x: mechanism.probabilities(objective(x)),
                universe,
                neighbours,
                mechanism.epsilon,
            )
            yield _Check("mechanism", private.ok, str(private))
    if "probabilities" in defined:
        private = check_private(
            defined["probabilities"], universe, neighbours, defined["epsilon"]
        )
        yield _Check("probabilities", private.ok, str(private))
    if "release" in defined:
        yield _replayed(defined["release"], universe, neighbours)


def _replayed(
    release: Callable[[Database], object],
    universe: Iterable[Database],
    neighbours: Any,
) -> _Check:
    """Replay a release on every pair of neighbours, and report the worst pair."""
    from dpselect.audit.replay import replay
    from dpselect.audit.universe import build

    space = build(universe, neighbours)
    worst: tuple[tuple[bool, float], Database, Database, ReplayReport] | None = None
    for left, right in zip(space.left, space.right, strict=True):
        x, y = space.databases[left], space.databases[right]
        report = replay(release, x, y)
        badness = (not report.ok, report.share)
        if worst is None or badness > worst[0]:
            worst = badness, x, y, report
    if worst is None:
        raise ParameterError("the universe has no pair of neighbours")
    _, x, y, report = worst
    text = f"{report}; the worst of {space.left.size} pairs is x = {x!r} and y = {y!r}"
    return _Check("release", report.ok, text)


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
