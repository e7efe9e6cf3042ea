"""Databases as tuples of counts, sensitivities by their definition, and laws of whole trees."""

from fractions import Fraction
from itertools import product

import numpy as np

from dpselect.trees.counts import MemoryCounts, cells_of


def add_remove(cells):
    """Every tuple with one record more or one less."""
    for i, n in enumerate(cells):
        yield (*cells[:i], n + 1, *cells[i + 1 :])
        if n:
            yield (*cells[:i], n - 1, *cells[i + 1 :])


def substitute(cells):
    """Every tuple with one record moved to another cell."""
    for i, j in product(range(len(cells)), repeat=2):
        if i != j and cells[i]:
            moved = list(cells)
            moved[i] -= 1
            moved[j] += 1
            yield tuple(moved)


def by_definition(cells, steps, neighbours_of, value):
    """LS(x, t) for t = 0, ..., steps: breadth first over databases."""
    near, shell, out, worst = {cells}, {cells}, [], 0.0
    for _ in range(steps + 1):
        worst = max(
            [worst, *(abs(value(x) - value(y)) for x in shell for y in neighbours_of(x))]
        )
        out.append(worst)
        shell = {y for x in shell for y in neighbours_of(x)} - near
        near |= shell
    return out


def counted(schema, cells):
    """Return records in memory, so many of each row of codes and class, the class fastest."""
    *codes, labels = np.array(list(product(*map(range, cells_of(schema))))).T
    return MemoryCounts(schema, np.array(codes).T, labels, np.asarray(cells).ravel())


def gini(table):
    """Return minus the count-weighted Gini index of a table of rows."""
    rows = (row for row in table if any(row))
    return -sum(sum(row) - Fraction(sum(n * n for n in row), sum(row)) for row in rows)


def majority(table):
    return Fraction(sum(map(max, table)))


def drawn(query, data, sampler):
    """Return what a query releases if another sampler draws; nothing is spent."""
    design = query.design()
    with design.rows.counts(data, query.max_records) as counts:
        return design.draw(counts, sampler, query.plan)


class Certain:
    """What would be drawn without any noise, and what was asked at which price."""

    def __init__(self):
        self.asked = []

    def choose(self, mechanism, objective, k):
        self.asked.append((mechanism.epsilon, *objective.scores))
        return np.argsort(-objective.scores, kind="stable")[:k].tolist()

    def count(self, counts, epsilon):
        self.asked.append((epsilon, *counts))
        return np.array(counts)


class Recording:
    """The exact law of a tree instead of a draw: every choice and its probability."""

    def __init__(self, script):
        self.script, self.log = list(script), 0.0

    def choose(self, mechanism, objective, k):
        assert k == 1
        chosen = self.script.pop(0) % len(objective)
        self.log += np.log(mechanism.probabilities(objective)[chosen])
        return [chosen]

    def count(self, counts, epsilon):
        wanted = [self.script.pop(0) for _ in counts]
        self.log += sum(-epsilon * abs(w - c) for w, c in zip(wanted, counts, strict=True))
        return np.array(wanted)
