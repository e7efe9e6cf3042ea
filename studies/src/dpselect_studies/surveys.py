"""Survey tables of both papers on trees, loaded once for each process.

Domains are those that the publishers document, not those that occur; a tree is trained on
codes. NLTCS and ACS are zeros and ones, and their last column is the class. Adult has twelve
columns: ``fnlwgt``, a sampling weight, and ``education_num``, a second name of education, are
left out, which the papers do not say; four are numbers, in eight bins of equal width. A
second reading of it has a bin for every integer, where a question that cuts at the edge of a
bin drawn at random is one that cuts at any real number.

The tables that end in "-code" are those of the code that PrivPareto's authors published
(github.com/victorfarias/MultiObjetiveDifferentiallyPrivateSelection): the class of NLTCS is
column 13 and that of ACS column 10, counted from 0; Adult has ``education_num`` in place of
education, as categories, two kinds of marital status, and a bin for every integer, so that a
question cuts at any real number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpselect.mechanisms import MechanismLike
from dpselect.trees import Bins, Categories, ID3Tree
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.domains import Schema
from dpselect.trees.id3 import Growth
from dpselect.trees.records import codes, read
from dpselect.typing import Indices
from dpselect_studies import datasets

IN_CODE = {"nltcs": 13, "acs": 10}
"""The class in the authors' code."""
NAMES = ("nltcs", "acs", "adult")
CODE = tuple(f"{name}-code" for name in NAMES)
"""The same as in the authors' code."""

TITLES = dict(zip((*NAMES, *CODE), ("NLTCS", "ACS", "Adult") * 2, strict=True))
"""Names in tables."""

MAX_RECORDS = 50_000
"""The public bound on records, the same for all three."""

NUMBERS = {
    "age": (17, 90),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_356),
    "hours_per_week": (1, 99),
}
"""Public bounds of Adult's numbers."""

WORDS = {
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov "
    "Without-pay Never-worked",
    "education": "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college "
    "Assoc-voc Assoc-acdm Bachelors Masters Prof-school Doctorate",
    "marital_status": "Married-civ-spouse Divorced Never-married Separated Widowed "
    "Married-spouse-absent Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial "
    "Prof-specialty Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing "
    "Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "native_country": "United-States Cambodia England Puerto-Rico Canada Germany "
    "Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras Philippines "
    "Italy Poland Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic Laos "
    "Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia "
    "El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
}
"""Adult's categories, as its publisher lists them."""
CATEGORIES = {name: Categories(words.split()) for name, words in WORDS.items()}


@dataclass(frozen=True, eq=False)
class Survey:
    """A public table with a class to predict.

    Attributes:
        codes: Shape ``(n, columns)``.
        labels: 0 for the negative, 1 for the positive class; shape ``(n,)``.
        schema: Columns, domains and classes.
    """

    codes: Indices
    labels: Indices
    schema: Schema

    def counts(self, part: NDArray[Any] | slice = slice(None)) -> MemoryCounts:
        """Return all records, or some of them."""
        return MemoryCounts.of_records(self.schema, self.codes[part], self.labels[part])


@cache
def load(name: str) -> Survey:
    """Return a table by the name of its data set.

    Raises:
        DataError: The data set cannot be had.
    """
    plain = name.removesuffix("-code")
    frame = datasets.load(plain)
    if plain == "adult":
        return _adult(frame) if plain == name else _adult_in_code(frame)
    last = frame.columns[-1 if plain == name else IN_CODE[plain]]
    return _binary(frame.select(pl.exclude(last), last))


@cache
def counts(name: str) -> MemoryCounts:
    """Return all records of a table as unique rows of codes and a class."""
    return load(name).counts()


HELD_OUT = 0.33
"""Of the records, for Figure 2 of the authors' code."""


@cache
def divided(name: str) -> tuple[MemoryCounts, MemoryCounts]:
    """Return the records that trees are made from, and those that are held out, as the code."""
    known = load(name)
    records = len(known.labels)
    order = np.random.RandomState(0).permutation(records)
    test, train = np.split(order, [ceil(HELD_OUT * records)])
    return known.counts(train), known.counts(test)


def _binary(frame: pl.DataFrame) -> Survey:
    table = np.ascontiguousarray(frame.to_numpy().astype(np.int64))
    names = tuple(frame.columns[:-1])
    schema = Schema(names, (Categories([0, 1]),) * len(names), (0, 1))
    return Survey(np.ascontiguousarray(table[:, :-1]), table[:, -1], schema)


def _whole(low: int, high: int) -> Bins:
    """Return one bin for every integer."""
    return Bins(low, high + 1, bins=high + 1 - low)


def _adult(
    frame: pl.DataFrame,
    words: Mapping[str, Categories] = CATEGORIES,
    bins: Callable[[int, int], Bins] = Bins,
) -> Survey:
    domains = {
        name: bins(*NUMBERS[name]) if name in NUMBERS else words[name]
        for name in frame.columns
        if name in NUMBERS or name in words
    }
    schema = Schema(tuple(domains), tuple(domains.values()), ("<=50K", ">50K"))
    labels = (frame["income"].cast(pl.String) == ">50K").to_numpy().astype(np.int64)
    return Survey(codes(read(frame), schema), labels, schema)


def _adult_in_code(frame: pl.DataFrame) -> Survey:
    status = pl.col("marital_status").cast(pl.String).str.starts_with("Married")
    words = {
        **{name: one for name, one in CATEGORIES.items() if name != "education"},
        "education_num": Categories(list(range(1, 17))),
        "marital_status": Categories([False, True]),
    }
    return _adult(frame.with_columns(marital_status=status), words, _whole)


def growth(schema: Schema, epsilon: float, depth: int, mechanism: MechanismLike) -> Growth:
    """Return the growth of DiffPID3 by information gain."""
    query = ID3Tree(
        domains=schema.named,
        classes=schema.classes,
        max_records=MAX_RECORDS,
        max_depth=depth,
        criterion="information-gain",
        mechanism=mechanism,
        splits="values",
        epsilon=epsilon,
        neighbours="add-remove",
    )
    return cast(Growth, query.design())
