"""Counts of genotypes: of a table with a row for each variant, or made of all genotypes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect import tables
from dpselect.errors import DataError, ParameterError, PublicClaimError
from dpselect.extend import Indices, of_objects, replaced


@dataclass(frozen=True, kw_only=True)
class VariantRows:
    """Rule by which counts are read; public.

    Attributes:
        variants: Number of variants.
        label: The column of their names, if the data are a table.
        counts: The columns of the four counts.
        cases: Number of cases.
        controls: Number of controls.
    """

    variants: int
    label: str
    counts: Sequence[str]
    cases: int
    controls: int

    def check(self, data: object) -> None:
        """Check the columns and the number of rows, which are public.

        Raises:
            ColumnError, DataError, ParameterError, PublicClaimError: As for ``read``.
        """
        if not tables.is_table(data):
            self._check_rows(len(_counts(data)))
            return
        if tables.Source.of(data).where:
            raise ParameterError(
                "`where` can keep one version of a row and drop another, and which variants "
                "there are is public: give a table of all of them"
            )
        self._check_rows(
            tables.count_records(data, numeric=list(self.counts), plain=[self.label])
        )

    def read(self, data: Any) -> tuple[Indices, Sequence[Hashable]]:  # noqa: ANN401
        """Return counts of possible genotypes, shape ``(variants, 4)``, and the names. Private.

        A count that is missing, negative or above the number of people is read as the nearest
        possible one, which one person moves by at most one.

        Raises:
            ColumnError, DataError: The data are no table with these columns, and no array.
            PublicClaimError: There are more or fewer rows than ``variants``.
        """
        self.check(data)
        if tables.is_table(data):
            frame = tables.read_columns(data, numeric=list(self.counts), plain=[self.label])
            names: Sequence[Hashable] = frame[self.label].to_list()
            columns = [tables.series_numbers(frame[one]) for one in self.counts]
        else:
            counts = _counts(data)
            names, columns = range(len(counts)), [*counts.T]
        sizes = (self.cases, self.cases, self.controls, self.controls)
        one_case, two_cases, one_control, two_controls = (
            np.clip(np.nan_to_num(column, nan=0.0), 0, size).astype(np.int64)
            for column, size in zip(columns, sizes, strict=True)
        )
        possible = (
            np.minimum(one_case, self.cases - two_cases),
            two_cases,
            np.minimum(one_control, self.controls - two_controls),
            two_controls,
        )
        return np.stack(possible, axis=1), names

    def _check_rows(self, rows: int) -> None:
        if rows != self.variants:
            raise PublicClaimError(
                f"the data have {rows} rows and `variants` is {self.variants}: which variants "
                "there are is public"
            )


def genotype_counts(genotypes: ArrayLike, is_case: ArrayLike) -> Indices:
    """Return the counts that ``TopVariants`` reads, of all genotypes; private.

    Args:
        genotypes: Copies of the counted allele, 0, 1 or 2, of each person and variant; shape
            ``(people, variants)``. Anything else, such as a missing call, counts as 0.
        is_case: Whether a person is a case; shape ``(people,)``, truth values.

    Returns:
        Shape ``(variants, 4)``, int64: cases with one copy and with two, controls with one
        and with two.

    Raises:
        DataError: The shapes do not fit.

    Examples:
        >>> from dpselect_applications.variants import genotype_counts
        >>> genotype_counts([[0, 2], [1, 1], [0, 1]], [True, True, False])
        array([[1, 0, 0, 0],
               [1, 1, 1, 0]])
    """
    refusal = "genotypes must be of shape (people, variants), is_case a truth value for each"
    copies, chosen = _matrix(genotypes, refusal), np.asarray(is_case)
    if chosen.shape != copies.shape[:1] or chosen.dtype != np.bool_:
        raise DataError(refusal)
    counts = [
        np.count_nonzero(copies[group] == number, axis=0)
        for group in (chosen, ~chosen)
        for number in (1, 2)
    ]
    return np.stack(counts, axis=1)


def _counts(data: object) -> NDArray[Any]:
    refusal = (
        "data must be a table, or an array of shape (variants, 4): cases with one copy and "
        "with two, controls with one and with two"
    )
    counts = _matrix(data, refusal)
    if counts.shape[1] != 4:
        raise DataError(refusal)
    return counts


def _matrix(data: Any, refusal: str) -> NDArray[Any]:  # noqa: ANN401
    """Return a two-dimensional array of numbers; NaN for values that are not numbers.

    The type of a list is that of no value in it: each is read by itself.
    """
    array = data
    if not isinstance(data, np.ndarray):
        array = replaced(lambda: np.array(data, dtype=object), lambda: DataError(refusal))
    if array.ndim != 2 or array.dtype.kind not in "biufO":
        raise DataError(refusal)
    if array.dtype.kind != "O":
        return array
    return of_objects(array.ravel().tolist()).numbers().reshape(array.shape)
