"""Trees: each split that was released is the best one, and each leaf has its counts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

from truth.calls import Call, Slack, best_first
from truth.question import Question

CLASSES = [
    [0, 1],
    [1, 0],
    ["yes", "no"],
    ["no", "yes"],
    [True, False],
    [2, 0, 1],
    ["c", "a", "b"],
]


@dataclass(frozen=True)
class Records:
    """Records whose class depends on their first columns, with noise.

    Attributes:
        seed: Of all values.
        n: Number of records.
        sizes: Number of values of each column.
        classes: In any order.
        values: ``"numbers"``, ``"text"``, or ``"bins"`` of numbers.
        held: The container: ``"rows"``, ``"array"``, ``"polars"``, ``"pandas"``, ``"objects"``.
        written: Whether all is text, as csv.reader returns it.
        missing: Whether some values are missing, which are dropped, or go to ``other``.
        other: Whether domains have a category for those.
    """

    seed: int
    n: int
    sizes: tuple
    classes: tuple
    values: str = "numbers"
    held: str = "rows"
    written: bool = False
    missing: bool = False
    other: bool = False

    @cached_property
    def codes(self):
        """Positions of values in their domains, -1 for what is missing; and of classes."""
        rng = np.random.default_rng(self.seed)
        columns = np.array([rng.integers(0, m, self.n) for m in self.sizes])
        few = columns[: rng.integers(1, len(self.sizes) + 1)]
        rule = rng.integers(0, len(self.classes), list(self.sizes[: len(few)]))
        noise = rng.integers(0, len(self.classes), self.n)
        y = np.where(rng.random(self.n) < rng.choice([0, 0.3, 0.8]), noise, rule[tuple(few)])
        # Others copy the class, with noise of their own.
        for column, m in zip(columns[len(few) :], self.sizes[len(few) :], strict=True):
            copied = rng.random(self.n) < rng.choice([0, 0.5, 0.9])
            column[copied] = y[copied] % m
        if self.missing:
            columns[rng.random(columns.shape) < 0.1] = -1
        return columns, y

    @property
    def counted(self):
        """The same of the records that count, with ``other`` as the last code."""
        columns, y = self.codes
        if self.other:
            return np.where(columns < 0, np.array(self.sizes)[:, None], columns), y
        return columns[:, (columns >= 0).all(0)], y[(columns >= 0).all(0)]

    @property
    def widths(self):
        return [m + self.other for m in self.sizes]

    def value(self, code):
        if code < 0:
            return None
        return {"numbers": code, "text": f"v{code}", "bins": code + 0.5}[self.values]

    @property
    def domains(self):
        if self.values == "bins":
            return [Call("dp.trees.Bins", 0, m, bins=m) for m in self.sizes]
        every = [[self.value(code) for code in range(m)] for m in self.sizes]
        more = {"other": 99 if self.values == "numbers" else "else"}
        return [
            Call("dp.trees.Categories", one, **more) if self.other else one for one in every
        ]

    @property
    def names(self):
        return [f"x{place}" for place in range(len(self.sizes))]

    @property
    def x(self):
        columns = [[self.value(code) for code in column] for column in self.codes[0].tolist()]
        if self.written:
            columns = [
                ["" if one is None else str(one) for one in column] for column in columns
            ]
        if self.held == "rows":
            return [list(row) for row in zip(*columns, strict=True)]
        if self.held == "array":
            dtype = object if self.missing or self.values == "text" else None
            return np.array(columns, dtype=dtype).T
        frame = dict(zip(self.names, columns, strict=True))
        kind = {"numbers": pl.Int64, "text": pl.String, "bins": pl.Float64}[self.values]
        if self.held == "objects":
            return pd.DataFrame(frame, dtype=object)
        frame = pl.DataFrame(frame, schema=dict.fromkeys(frame, kind))
        return frame if self.held == "polars" else frame.to_pandas()

    @property
    def y(self):
        found = [self.classes[code] for code in self.codes[1].tolist()]
        return [str(one) for one in found] if self.written else found


def tables_of(records, chosen=slice(None)):
    """Counts by value and class of each column."""
    columns, y = records.counted
    m = len(records.classes)
    return [
        np.bincount(column[chosen] * m + y[chosen], minlength=width * m).reshape(width, m)
        for column, width in zip(columns, records.widths, strict=True)
    ]


def score_of(table, criterion):
    """The score of a column: what its values leave open about the class, negative."""
    totals = table.sum(1, keepdims=True)
    if criterion == "majority":
        return float(table.max(1).sum())
    share = table / np.maximum(totals, 1)
    if criterion == "gini":
        return float(-(totals[:, 0] - (table * share).sum(1)).sum())
    return float((table * np.log2(np.where(share > 0, share, 1))).sum())


def bound_of(criterion, most):
    return {"information-gain": np.log2(most) + 1.45, "gini": 2, "majority": 1}[criterion]


CRITERIA = ["information-gain", "gini", "majority"]


@st.composite
def records_of(draw, *, classes=CLASSES, written=False, most=800, least=0):
    sizes = draw(st.lists(st.sampled_from([1, 2, 2, 3, 5, 8, 12]), min_size=1, max_size=5))
    values = "numbers" if written else draw(st.sampled_from(["numbers", "text", "bins"]))
    missing = draw(st.booleans())
    return Records(
        draw(st.integers(0, 10**6)),
        draw(st.sampled_from([n for n in (least, 20, 60, 200, 800) if least <= n <= most])),
        tuple(sizes),
        tuple(draw(st.sampled_from([c for c in classes if not written or c[0] in {0, 1, 2}]))),
        values,
        "rows"
        if written
        else draw(st.sampled_from(["rows", "array", "polars", "pandas", "objects"])),
        written,
        missing,
        missing and values != "bins" and draw(st.booleans()),
    )


def fields_of(draw, records):
    """The public fields of an estimator, whose bound on the records may be generous."""
    return {
        "epsilon": draw(st.sampled_from([1e5, 1e6])),
        "domains": records.domains,
        "classes": list(records.classes),
        "max_records": max(2, records.n * draw(st.sampled_from([1, 1, 10, 100]))),
        "neighbours": draw(st.sampled_from(["add-remove", "substitute"])),
    }


def fitted(estimator, records, right):
    """Return the question what an estimator has learned."""
    text = f"records = {records!r}; {estimator!r}.fit(records.x, records.y)"
    return Question(text, lambda: estimator.made().fit(records.x, records.y), right)


@st.composite
def grown(draw, criteria, mechanisms=(None,), **of):
    """A tree with all splits and leaves as the counts say."""
    records = draw(records_of(**of))
    fields, depth = fields_of(draw, records), draw(st.integers(0, 3))
    criterion, mechanism = draw(st.sampled_from(criteria)), draw(st.sampled_from(mechanisms))
    fields |= {"max_depth": depth, "criterion": criterion}
    fields |= {"mechanism": mechanism} if mechanism else {}
    fields["splits"] = draw(st.sampled_from(["thresholds", "values"]))
    tests = fields["splits"] == "values"
    two = not tests and records.value(0) == 0.5  # the middle of a bin
    each = fields["epsilon"] / ((1 + tests) * (depth + 1))
    questions = sum(records.sizes) if two else len(records.sizes)
    slack = Slack(bound_of(criterion, fields["max_records"]), each, questions)

    def right(model):
        columns, y = records.counted
        said = model.tree_.to_dict()
        order = [list(records.classes).index(one) for one in said["classes"]]
        shares = np.full((len(y), len(order)), np.nan)

        def walk(node, chosen, left, deeper):
            tables = tables_of(records, chosen)
            asked = [(column, edge) for column, codes in left.items() for edge in edges(codes)]
            if "counts" in node:
                counts = np.bincount(y[chosen], minlength=len(order))[order]
                shares[chosen] = (counts / max(1, counts.sum()))[np.argsort(order)]
                assert np.allclose(counts, node["counts"], atol=0.01), (node, counts)
                assert not (deeper and asked and counts.sum()), f"{counts} are not split"
                return
            scores = {
                (column, edge): score_of(parted(tables[column], edge), criterion)
                for column, edge in asked
            }
            column, branch_of = node["column"], node["branch_of"]
            edge = branch_of.index(1) if two else 0
            found = best_first([(column, edge)], scores, 1, slack.value)
            assert found is True, f"a split by {found}"
            for branch, child in enumerate(node["branches"]):
                inside = chosen & (np.array(branch_of)[columns[column]] == branch)
                kept = [code for code in left[column] if two and branch_of[code] == branch]
                walk(child, inside, {**left, column: kept}, deeper - 1)

        def edges(codes):
            return codes[1:] if two else [0] * bool(codes)

        def parted(table, edge):
            return np.stack([table[:edge].sum(0), table[edge:].sum(0)]) if edge else table

        every = {place: [*range(width)] for place, width in enumerate(records.widths)}
        walk(said["root"], np.ones(len(y), bool), every, depth)
        sorted_classes = np.unique(np.array(records.classes))
        assert list(model.classes_) == list(sorted_classes), f"classes_ {model.classes_}"
        if records.missing or not len(y):
            return True
        place = [list(records.classes).index(one) for one in sorted_classes.tolist()]
        assert np.allclose(model.predict_proba(records.x), shares[:, place], atol=0.01)
        code = {one: at for at, one in enumerate(records.classes)}
        taken = shares[
            np.arange(len(y)), [code[one] for one in model.predict(records.x).tolist()]
        ]
        return bool(np.allclose(taken, shares.max(1), atol=0.01)) or "predicts a rarer class"

    return fitted(Call("dp.trees.ID3Classifier", **fields), records, words(right))


def words(right):
    """Return a function that says in words what an assertion inside of it found."""

    def said(found):
        try:
            return right(found)
        except AssertionError as fault:
            return f"{fault}"

    return said


def leaf_of(node, record):
    while "counts" not in node:
        node = node["branches"][node["branch_of"][record[node["column"]]]]
    return int(np.argmax(node["counts"]))


@st.composite
def front(draw):
    """Trees whose released rates are their rates, the best by weights first."""
    records = draw(records_of(classes=[c for c in CLASSES if len(c) == 2], least=20, most=200))
    fields = fields_of(draw, records) | {"population": 12, "generations": 2, "front": 3}
    weights, selection = (
        draw(st.sampled_from([(1.0, 1.0), (1.0, 5.0)])),
        draw(st.sampled_from(["weighted-sum", "pareto", "margin"])),
    )
    fields |= {
        "weights": weights,
        "selection": selection,
        "random_state": draw(st.integers(0, 99)),
    }
    fields["rate_bound"] = draw(st.sampled_from(["noisy-denominators", "global"]))
    bound = 1 if fields["rate_bound"] == "global" else 1 / 5
    off = Slack(sum(weights) * bound, fields["epsilon"] * 0.02, 30, 3).value

    def right(model):
        columns, y = records.counted
        if len(set(y.tolist())) < 2 or min(np.bincount(y)) < 5:
            return True
        rates = []
        for one in model.front_:
            said = one.tree.to_dict()
            order = [list(records.classes).index(each) for each in said["classes"]]
            found = np.array(
                [order[leaf_of(said["root"], record)] for record in columns.T.tolist()]
            )
            rates.append([np.mean(found[y == code] == code) for code in (1, 0)])
        said = np.array([one.rates for one in model.front_])
        assert np.allclose(said, rates, atol=max(off, 1e-3)), f"{said} for {rates}"
        sums = np.array(rates) @ weights
        first = sums[0] if selection == "weighted-sum" else sums[model.best_]
        assert first >= sums.max() - off, f"{sums} {model.best_}"
        assert sums[model.best_] >= sums.max() - off, f"{sums} {model.best_}"
        better = (np.array(rates) > np.array(rates[0]) + off).all(1)
        return not better.any() or f"{rates}: the first is dominated"

    return fitted(
        Call("dp.trees.MultiObjectiveTreeClassifier", **fields), records, words(right)
    )


ROUNDS = [
    "exponential",
    "permute-and-flip",
    "noisy-max",
    "pairwise",
    "generalized",
    "noisy-sequence",
]
QUESTIONS = {
    **{f"ID3Classifier {criterion}": grown([criterion]) for criterion in CRITERIA},
    "ID3Classifier by name": grown(CRITERIA, ROUNDS),
    "ID3Classifier of text": grown(CRITERIA, written=True),
    "MultiObjectiveTreeClassifier": front(),
}
