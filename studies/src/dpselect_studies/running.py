"""Resumable runs of studies, deterministic given a seed and parallel over cells."""

from __future__ import annotations

import ast
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import dpselect
import dpselect_studies
from dpselect.errors import ParameterError
from dpselect_studies.catalogue import load, module_of
from dpselect_studies.study import Row

CELLS = ".cells"
"""The folder of finished cells, inside the folder of results."""


@dataclass(frozen=True)
class Run:
    """The result of a run of a study.

    Attributes:
        frame: The tidy frame: one row for each number, in the order of the cells.
        seconds: Processor time of measurement, summed over cells, whenever they were measured.
    """

    frame: pl.DataFrame
    seconds: float


@dataclass(frozen=True)
class _Job:
    name: str
    cell: Any
    seed: int
    digest: str


def run(
    name: str,
    *,
    folder: Path,
    full: bool = False,
    code: bool = False,
    jobs: int = 1,
    seed: int = 0,
    on_cell: Callable[[int, int], None] = lambda _done, _all: None,
) -> Run:
    """Measure a study; finished cells are read from the folder.

    Args:
        name: A name of ``STUDIES``.
        folder: Folder of finished cells. A cell that is there, with the same seed and the same
            source of all that the study uses of both packages, is not measured again.
        full: The paper's setting, not the small one.
        code: The setting of the authors' published code, in place of both.
        jobs: Number of processes; >= 1.
        seed: Of the random streams, one for each cell; >= 0.
        on_cell: Called with the numbers of finished and of all cells.

    Raises:
        ParameterError: There is no such study, ``jobs`` < 1, ``seed`` < 0, or the study has
            no setting of the authors' code.
        DataError: A data set cannot be had.
    """
    study = load(name)
    if jobs < 1:
        raise ParameterError(f"jobs must be at least 1, not {jobs}")
    if seed < 0:
        raise ParameterError(f"seed must be at least 0, not {seed}")
    setting = study.code if code else study.full if full else study.small
    if setting is None:
        raise ParameterError(f"{name} has no setting of the authors' code")
    finished = folder / CELLS / name
    finished.mkdir(parents=True, exist_ok=True)
    uses = source_digest(module_of(name))
    work = [
        _Job(name, cell, seed, sha256(f"{cell!r} {seed} {uses}".encode()).hexdigest())
        for cell in study.cells(setting)
    ]
    missing = [job for job in work if not _file(finished, job).exists()]
    done = len(work) - len(missing)
    on_cell(done, len(work))
    for job, result in _measured(missing, jobs):
        _write(_file(finished, job), json.dumps(result))
        done += 1
        on_cell(done, len(work))
    found = [json.loads(_file(finished, job).read_text(encoding="utf-8")) for job in work]
    rows = [row for one in found for row in one["rows"]]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return Run(frame, sum(one["seconds"] for one in found))


def source_digest(module: str) -> str:
    """Return the digest of all source that a study's module uses.

    That is the whole of dpselect, and every module of this package that it imports, directly
    or through another. The text on the results, from ``STUDY`` on, is left out: it may change
    without measuring them anew.
    """
    known: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        text = _text_of(name)
        if name in known or text is None:
            continue
        known[name] = text.partition("\nSTUDY")[0]
        waiting += _imported(text)
    ours = "".join(known[name] for name in sorted(known))
    return sha256((ours + _library()).encode()).hexdigest()


@cache
def _library() -> str:
    home = Path(str(dpselect.__file__)).parent
    return "".join(path.read_text(encoding="utf-8") for path in sorted(home.rglob("*.py")))


def _text_of(name: str) -> str | None:
    """Return the source of a module of this package, or None for any other name."""
    home = Path(str(dpselect_studies.__file__)).parent
    first, *rest = name.split(".")
    if first != home.name:
        return None
    for path in (home.joinpath(*rest).with_suffix(".py"), home.joinpath(*rest, "__init__.py")):
        if rest and path.is_file():
            return path.read_text(encoding="utf-8")
    return None


def _imported(text: str) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
    return found


def _file(finished: Path, job: _Job) -> Path:
    return finished / f"{job.digest[:32]}.json"


def _write(path: Path, text: str) -> None:
    # A cell is there whole or not at all, whenever the run is cut short.
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _measured(work: Sequence[_Job], jobs: int) -> Iterator[tuple[_Job, dict[str, Any]]]:
    if jobs == 1:
        for job in work:
            yield job, _measure(job)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _share_cores, (threads,)) as workers:
        running = {workers.submit(_measure, job): job for job in work}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:
            workers.shutdown(wait=False, cancel_futures=True)
            raise


def _share_cores(threads: int) -> None:
    for engine in ("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ[engine] = str(threads)


def _measure(job: _Job) -> dict[str, Any]:
    stream = [job.seed, *np.frombuffer(bytes.fromhex(_named(job)), dtype=np.uint32).tolist()]
    start = time.process_time()
    rows: list[Row] = load(job.name).measure(job.cell, np.random.default_rng(stream))
    return {"cell": repr(job.cell), "seconds": time.process_time() - start, "rows": rows}


def _named(job: _Job) -> str:
    # Of the cell and not of the source: a comment must not change the numbers.
    return sha256(f"{job.name} {job.cell!r}".encode()).hexdigest()
