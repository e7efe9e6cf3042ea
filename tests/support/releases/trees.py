"""Releases of :mod:`dpselect.trees`, by queries and by estimators."""

from functools import partial

import polars as pl
from sklearn.base import clone

import dpselect as dp
from dpselect.mechanisms import MECHANISMS
from dpselect.neighbours import Neighbours
from dpselect.trees import Bins, ID3Classifier, MultiObjectiveTreeClassifier
from dpselect_conformance import ReleaseCase, pairs_of_persons

PUBLIC = {
    "domains": {"sky": ["sun", "rain"], "wind": Bins(0, 3, bins=3)},
    "classes": ["dry", "wet"],
    "max_records": 100,
}
SELECTIONS = [
    {"selection": selection, "rate_bound": rate_bound}
    for selection, rate_bound in (
        *(("weighted-sum", "noisy-denominators"), ("weighted-sum", "local")),
        *(("pareto", "global"), ("margin", "global")),
    )
]


NAMES = ["sky", "wind", "weather"]


def rows_of(held):
    """Return a table of the rows of persons, who are not in it."""
    rows = [row for rows in held.values() for row in rows]
    return pl.DataFrame(rows, schema=NAMES, orient="row")


def rows_with_persons(held):
    rows = [(*row, who) for who, rows in held.items() for row in rows]
    return pl.DataFrame(rows, schema=[*NAMES, "who"], orient="row")


def drawn(most, rng):
    """Return one row of a person, or up to so many."""
    kinds = [["sun", "rain"], range(3), ["dry", "wet"]]
    return [
        tuple(kind[rng.integers(len(kind))] for kind in kinds)
        for _ in range(rng.integers(1, most + 1))
    ]


PAIRS = pairs_of_persons(rows_of, partial(drawn, 1), 20)
OF_PERSONS = pairs_of_persons(rows_with_persons, partial(drawn, 4), 8)


def pair_in_memory(frame):
    return frame.drop("weather"), frame["weather"]


def case(kind, relation, name, *, lazy=False, **arguments):
    """One query, of a pair of a table and labels, or of a lazy frame."""
    label = "weather" if lazy else None
    query = kind(**PUBLIC, **arguments, label=label, epsilon=1.0, neighbours=relation)
    return ReleaseCase(
        name=f"{kind.__name__}, {relation}, {name}",
        query=query,
        data=pl.DataFrame.lazy if lazy else pair_in_memory,
        pair=(OF_PERSONS if "user" in arguments else PAIRS)[relation],
    )


def fitted(kind, relation, **arguments):
    """The same by an estimator."""
    made = kind(1.0, **PUBLIC, **arguments, neighbours=relation)

    def run(data, budget):
        return clone(made).set_params(budget=budget).fit(*pair_in_memory(data))

    return ReleaseCase(
        name=f"{kind.__name__}, {relation}", query=made.query(), run=run, pair=PAIRS[relation]
    )


FRONT = {"population": 6, "survivors": 2, "front": 2, "generations": 2, "initial_depth": 1}
FRONT |= {"max_depth": 2, "random_state": 1}
PUBLISHED = {"selection": "pareto", "dominance": "weak", "operators": "published"}
DIFF_PID3 = {"criterion": "information-gain", "splits": "values"}
RELATIONS = [Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE]
PERSONS = {"user": "who", "max_per_user": 2}
CASES = [
    *(
        case(dp.ID3Tree, relation, name, max_depth=2, mechanism=name, **DIFF_PID3)
        for relation in RELATIONS
        for name in MECHANISMS
    ),
    case(dp.ID3Tree, RELATIONS[0], "in an engine", lazy=True, max_depth=2),
    case(dp.ID3Tree, RELATIONS[0], "persons", max_depth=1, **PERSONS),
    case(dp.ID3Tree, RELATIONS[0], "persons in an engine", lazy=True, max_depth=1, **PERSONS),
    case(dp.ID3Tree, RELATIONS[1], "persons", max_depth=1, **PERSONS),
    *(
        case(dp.TreeFront, relation, ", ".join(one.values()), **one, **FRONT)
        for relation in RELATIONS
        for one in SELECTIONS
    ),
    case(dp.TreeFront, RELATIONS[0], "as published", rate_bound="local", **PUBLISHED, **FRONT),
    case(dp.TreeFront, RELATIONS[1], "pairwise", mechanism="pairwise", **FRONT),
    fitted(ID3Classifier, RELATIONS[1], max_depth=2),
    fitted(MultiObjectiveTreeClassifier, RELATIONS[0], **FRONT),
]
