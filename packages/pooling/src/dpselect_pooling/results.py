"""Results files of a lab, and reports of who is positive and who is to be tested again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import DataError, ParameterError
from dpselect.extend import Values, validation
from dpselect_pooling import decoders, files
from dpselect_pooling.assay import Assay
from dpselect_pooling.decoders import DOUBT
from dpselect_pooling.designs import Design
from dpselect_pooling.files import read_csv
from dpselect_pooling.worksheet import pool_name

EXACT = {"comp": decoders.comp, "dd": decoders.dd, "scomp": decoders.scomp}
"""Decoders of tests without errors, by name."""

METHODS = (*EXACT, "integer-program", "belief-propagation")

POSITIVE = {"positive", "pos", "+", "1", "true", "yes", "detected"}
NEGATIVE = {"negative", "neg", "-", "0", "false", "no", "not detected"}
STATUSES, RETEST = ("negative", "positive"), "retest"
INVALID = {"", "invalid", "inconclusive", "missing", "na", "nan", "null", "failed"}


@dataclass(frozen=True, slots=True)
class Results:
    """Outcomes of a lab, one for each pool of a design.

    Attributes:
        positive: Shape ``(pools,)``; ``False`` where there is no valid result.
        valid: Shape ``(pools,)``: whether there is a valid result.
    """

    positive: NDArray[np.bool_]
    valid: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The decoded answer for each sample; as private as the outcomes.

    Attributes:
        samples: Their names.
        positive: The decoder's answers.
        posterior: P[positive], or ``None`` where the decoder gives none.
        retest: Whether a sample is in doubt: possible but not certain, or a posterior
            within 0.05 to 0.95; also if none of its pools has a valid result.
        method: The decoder's name.
        converged: ``False`` if belief propagation did not converge.
    """

    samples: Sequence[str]
    positive: NDArray[np.bool_]
    posterior: Values | None
    retest: NDArray[np.bool_]
    method: str
    converged: bool = True

    def rows(self) -> list[dict[str, object]]:
        """Return one row for each sample, as plain Python values.

        The ``status`` is ``"positive"`` or ``"negative"`` where it is certain, and ``"retest"``
        where it is in doubt.
        """
        return [
            {
                "sample": sample,
                "status": RETEST if self.retest[i] else STATUSES[int(self.positive[i])],
                "posterior": None if self.posterior is None else float(self.posterior[i]),
            }
            for i, sample in enumerate(self.samples)
        ]

    def after(self, retests: Mapping[str, bool | None]) -> Report:
        """Return the report with the results of samples that were tested again.

        Args:
            retests: Whether each of them is positive; None for no valid result.

        Raises:
            DataError: One is no sample of the report.
        """
        at = {sample: i for i, sample in enumerate(self.samples)}
        if not set(retests) <= set(at):
            raise DataError("`retests` names a sample that is not in the worksheet")
        positive, retest = self.positive.copy(), self.retest.copy()
        for sample, result in retests.items():
            retest[at[sample]] = result is None
            positive[at[sample]] = bool(result)
        return replace(self, positive=positive, retest=retest)

    def write(self, path: str | Path) -> None:
        """Write a new CSV file that only its owner can read.

        Raises:
            DataError: The file is there already or cannot be written.
        """
        where, rows = Path(path), self.rows()
        text = files.csv_text(
            list(rows[0]), [["" if v is None else v for v in row.values()] for row in rows]
        )
        try:
            files.write_together({where: text}, secret={where})
        except OSError as error:
            raise DataError(f"cannot write a new file {where}: {error.strerror}") from None


def read_results(path: str | Path, pools: int) -> Results:
    """Read a lab's file: ``pool`` (or ``pool_plate, pool_well``) and ``result``.

    Pools that are missing or invalid are left out of the decoding.

    Raises:
        DataError: A pool occurs twice or is not of the design, or a result is not positive,
            negative or invalid.
    """
    rows = read_csv(path, ("pool", "result"))
    at = {pool_name(t): t for t in range(pools)}
    positive, valid = np.zeros(pools, dtype=np.bool_), np.zeros(pools, dtype=np.bool_)
    seen: set[str] = set()
    wells: set[tuple[str, str]] = set()
    for line, row in enumerate(rows, start=2):
        name, result = row["pool"], row["result"].lower()
        if name not in at:
            raise DataError(f"{path}, line {line}: there is no such pool in the design")
        well = (row.get("pool_plate", ""), row.get("pool_well", ""))
        if name in seen or (well[1] and well in wells):
            raise DataError(f"{path}, line {line}: this pool or well occurs a second time")
        seen.add(name)
        wells.add(well)
        found = _result(result, path, line)
        positive[at[name]], valid[at[name]] = bool(found), found is not None
    return Results(positive, valid)


def read_retests(path: str | Path) -> dict[str, bool | None]:
    """Read the results of samples that were tested one by one: ``sample`` and ``result``.

    Returns:
        Whether each is positive; None for no valid result.

    Raises:
        DataError: A sample occurs twice, or a result is not positive, negative or invalid.
    """
    found: dict[str, bool | None] = {}
    for line, row in enumerate(read_csv(path, ("sample", "result")), start=2):
        if row["sample"] in found:
            raise DataError(f"{path}, line {line}: this sample occurs a second time")
        found[row["sample"]] = _result(row["result"].lower(), path, line)
    return found


def _result(text: str, path: str | Path, line: int) -> bool | None:
    if text not in POSITIVE | NEGATIVE | INVALID:
        raise DataError(
            f"{path}, line {line}: a result must be positive, negative or invalid (or 1 "
            "or 0, + or -, detected or not detected)"
        )
    return None if text in INVALID else text in POSITIVE


def decode(
    samples: Sequence[str],
    design: Design,
    results: Results,
    *,
    method: str | None = None,
    assay: Assay | None = None,
    prevalence: float | None = None,
    replaced: Collection[str] = (),
    exchanged: Collection[str] = (),
) -> Report:
    """Decode valid results into a report.

    Args:
        samples: Their names, one for each column of the design.
        design: Shape ``(pools, people)``.
        results: Outcomes of the lab.
        method: ``"comp"``, ``"dd"``, ``"scomp"``,
            ``"integer-program"`` or ``"belief-propagation"``; if not given ``"scomp"``, and
            belief propagation with an assay that errs.
        assay: Error probabilities of the tests, with one of the last two.
        prevalence: P[positive] before any test, for belief propagation or with an assay that
            errs.
        replaced: Names of samples that were replaced by known positives; they are to be
            tested again.
        exchanged: Names of pools that were exchanged for clean or contaminated ones; their
            results are left out. With them the report is no longer private.

    Raises:
        DataError: ``replaced`` names a sample, or ``exchanged`` a pool, that does not exist.
        ParameterError: The decoder needs an argument that is missing, or is not one of these.
    """
    perfect = assay is None or assay.perfect
    method = method or ("scomp" if perfect else "belief-propagation")
    validation.one_of("method", method, METHODS)
    if not set(replaced) <= set(samples):
        raise DataError("`replaced` names a sample that is not in the worksheet")
    names = np.array([pool_name(t) for t in range(len(design))])
    if not set(exchanged) <= set(names.tolist()):
        raise DataError("`exchanged` names a pool that is not in the worksheet")
    valid = results.valid & ~np.isin(names, list(exchanged))
    seen, outcomes = design[valid], results.positive[valid]
    untested = ~seen.any(axis=0) | np.isin(np.asarray(samples), list(replaced))
    if method == "belief-propagation":
        if prevalence is None:
            raise ParameterError("belief propagation needs a `prevalence`")
        found = decoders.belief_propagation(seen, outcomes, prevalence=prevalence, assay=assay)
        doubt = np.minimum(found.posterior, 1 - found.posterior) > DOUBT
        return Report(
            samples,
            found.positives,
            found.posterior,
            doubt | untested,
            method,
            converged=found.converged,
        )
    if method == "integer-program":
        positive = decoders.integer_program(seen, outcomes, prevalence=prevalence, assay=assay)
    elif perfect:
        positive = EXACT[method](seen, outcomes)
    else:
        raise ParameterError(
            f"{method} is for tests without errors: use integer-program or belief-propagation"
        )
    candidates, sure = decoders.comp(seen, outcomes), decoders.dd(seen, outcomes)
    # If no candidate is in a positive pool, a test was wrong: all in the pool are in doubt.
    unexplained = outcomes & ~seen[:, candidates].any(axis=1)
    suspects = seen[unexplained].any(axis=0)
    doubt = (candidates & ~sure) | suspects | (positive != sure) | untested
    return Report(samples, positive, None, doubt, method)
