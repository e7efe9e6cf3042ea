"""Results files of a lab, and reports of who is positive and who is to be tested again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import DataError, ParameterError
from dpselect.pooling import decoders, files
from dpselect.pooling.assay import Assay
from dpselect.pooling.belief_propagation import DOUBT, bp
from dpselect.pooling.designs import Design
from dpselect.pooling.files import read_csv
from dpselect.pooling.linear_programs import ErrorModel, ilp, lp
from dpselect.pooling.worksheet import pool_name
from dpselect.typing import Values

DECODERS = ("comp", "dd", "scomp", "lp", "ilp", "bp")

POSITIVE = {"positive", "pos", "+", "1", "true", "yes", "detected"}
NEGATIVE = {"negative", "neg", "-", "0", "false", "no", "not detected"}
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
        decoder: Its name.
        converged: ``False`` if belief propagation did not converge.
    """

    samples: Sequence[str]
    positive: NDArray[np.bool_]
    posterior: Values | None
    retest: NDArray[np.bool_]
    decoder: str
    converged: bool = True

    def rows(self) -> list[dict[str, object]]:
        """Return one row for each sample, as plain Python values."""
        return [
            {
                "sample": sample,
                "positive": bool(self.positive[i]),
                "posterior": None if self.posterior is None else float(self.posterior[i]),
                "retest": bool(self.retest[i]),
            }
            for i, sample in enumerate(self.samples)
        ]

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
        DataError: A pool occurs twice or is not of the design, or a result is none of
            positive, negative and invalid.
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
        if result not in POSITIVE | NEGATIVE | INVALID:
            raise DataError(
                f"{path}, line {line}: a result must be positive, negative or invalid"
            )
        positive[at[name]] = result in POSITIVE
        valid[at[name]] = result not in INVALID
    return Results(positive, valid)


def decode(
    samples: Sequence[str],
    design: Design,
    results: Results,
    *,
    decoder: str = "scomp",
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
        decoder: ``comp``, ``dd``, ``scomp``, ``lp``, ``ilp`` or ``bp``.
        assay: For ``lp``, ``ilp`` and ``bp``: error probabilities of the tests.
        prevalence: For ``bp``, and with an assay that errs: P[positive] before any test.
        replaced: Names of samples that were replaced by known positives; they are to be
            tested again.
        exchanged: Names of pools that were exchanged for clean or contaminated ones; their
            results are left out. With them the report is no longer private.

    Raises:
        DataError: ``replaced`` names a sample that is not there, ``exchanged`` a pool.
        ParameterError: The decoder needs an argument that is missing, or is none of these.
    """
    if decoder not in DECODERS:
        raise ParameterError(f"decoder must be one of {', '.join(DECODERS)}")
    if not set(replaced) <= set(samples):
        raise DataError("replaced names a sample that is not in the worksheet")
    names = np.array([pool_name(t) for t in range(len(design))])
    if not set(exchanged) <= set(names.tolist()):
        raise DataError("exchanged names a pool that is not in the worksheet")
    valid = results.valid & ~np.isin(names, list(exchanged))
    seen, outcomes = design[valid], results.positive[valid]
    untested = ~seen.any(axis=0) | np.isin(np.asarray(samples), list(replaced))
    if decoder == "bp":
        if prevalence is None:
            raise ParameterError("bp needs a prevalence: P[positive] before any test")
        marginals = bp(seen, outcomes, prevalence=prevalence, assay=assay)
        doubt = np.minimum(marginals.posterior, 1 - marginals.posterior) > DOUBT
        return Report(
            samples,
            marginals.positives,
            marginals.posterior,
            doubt | untested,
            decoder,
            converged=marginals.converged,
        )
    candidates, sure = decoders.comp(seen, outcomes), decoders.dd(seen, outcomes)
    found = _found(seen, outcomes, decoder, _error_model(assay, prevalence, decoder))
    # If no candidate is in a positive pool, a test was wrong: all in the pool are in doubt.
    unexplained = outcomes & ~seen[:, candidates].any(axis=1)
    suspects = seen[unexplained].any(axis=0)
    doubt = (candidates & ~sure) | suspects | (found != sure) | untested
    return Report(samples, found, None, doubt, decoder)


def _found(
    seen: Design, outcomes: NDArray[np.bool_], decoder: str, model: ErrorModel | None
) -> NDArray[np.bool_]:
    if decoder == "lp":
        return lp(seen, outcomes, model=model)
    if decoder == "ilp":
        return ilp(seen, outcomes, model=model)
    simple = {"comp": decoders.comp, "dd": decoders.dd, "scomp": decoders.scomp}
    return simple[decoder](seen, outcomes)


def _error_model(
    assay: Assay | None, prevalence: float | None, decoder: str
) -> ErrorModel | None:
    if assay is None or assay.perfect:
        return None
    if decoder not in {"lp", "ilp"}:
        raise ParameterError(f"{decoder} is for tests without errors: use lp, ilp or bp")
    if prevalence is None:
        raise ParameterError("an assay that errs needs a prevalence too")
    return ErrorModel(assay=assay, prevalence=prevalence)
