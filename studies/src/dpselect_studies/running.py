"""Resumable runs of studies, deterministic given a seed and parallel over cells."""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dpselect.errors import ParameterError
from dpselect_studies.catalogue import load
from dpselect_studies.study import Row

CELLS = ".cells"
"""The folder of finished cells, inside the folder of results."""


@dataclass(frozen=True)
class Run:
    """The result of a run of a study.

    Attributes:
        frame: The tidy frame: one row for each number, in the order of the cells.
        seconds: Time of measurement, summed over cells, whenever they were measured.
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
    jobs: int = 1,
    seed: int = 0,
    on_cell: Callable[[int, int], None] = lambda _done, _all: None,
) -> Run:
    """Measure a study; finished cells are read from the folder.

    Args:
        name: A name of ``STUDIES``.
        folder: Folder of finished cells. A cell that is there, with the same seed and the same
            source of the study's module, is not measured again.
        full: The paper's setting, not the small one.
        jobs: Number of processes; >= 1.
        seed: Of the random streams, one for each cell; >= 0.
        on_cell: Called with the numbers of finished and of all cells.

    Raises:
        ParameterError: There is no such study, or ``jobs`` < 1, or ``seed`` < 0.
        DataError: A data set cannot be had.
    """
    study = load(name)
    if jobs < 1:
        raise ParameterError(f"jobs must be at least 1, not {jobs}")
    if seed < 0:
        raise ParameterError(f"seed must be at least 0, not {seed}")
    # The text on the results, from STUDY on, may change without measuring them anew.
    source = inspect.getsource(sys.modules[study.measure.__module__]).partition("\nSTUDY")[0]
    finished = folder / CELLS / name
    finished.mkdir(parents=True, exist_ok=True)
    work = [
        _Job(name, cell, seed, sha256(f"{cell!r} {seed} {source}".encode()).hexdigest())
        for cell in study.cells(study.full if full else study.small)
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
    start = time.perf_counter()
    rows: list[Row] = load(job.name).measure(job.cell, np.random.default_rng(stream))
    return {"cell": repr(job.cell), "seconds": time.perf_counter() - start, "rows": rows}


def _named(job: _Job) -> str:
    # Of the cell and not of the source: a comment must not change the numbers.
    return sha256(f"{job.name} {job.cell!r}".encode()).hexdigest()
