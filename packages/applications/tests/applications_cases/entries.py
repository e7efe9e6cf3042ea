"""What applications read, of odd data of every container (``support.odd_entries``)."""

import numpy as np

import dpselect as dp
from dpselect import tuning
from dpselect.trees import ID3Classifier
from dpselect_applications.columns import PrivateSelectKBest
from dpselect_applications.variants import genotype_counts
from support.odd_fields import (
    AR,
    BOTH,
    BY_COLUMN,
    CELLS,
    COLUMNS,
    EDGES,
    KNOWN,
    MEDIAN,
    NODES,
    PEOPLE,
    PLACES,
    PUBLIC,
    SEQUENCE,
    SURE,
    UNNAMED,
    VARIANTS,
    fitted,
    id3,
    labels_apart,
    objective,
)

CODES = {"tree": {"a": "1", "b": "1", "0": "2", "3": "2"}, **BOTH}
NUMBERS = {"tree": {"0": "8", "1": "8", "2": "9", "3": "9"}, **BOTH}

# A query is made once: most of them take longer to plan than to release.
HALF = dp.Percentiles(**MEDIAN)
BEST = dp.BestOf(repetitions=tuning.Geometric(mean=2), epsilon_per_run=1.0, neighbours=AR)
STUMP, DEPTHS = ID3Classifier(**PUBLIC, max_depth=1), {"max_depth": [0, 1]}
SEARCHED = {"estimator": STUMP, "grid": DEPTHS, "columns": ["f", "g"], "method": "all"}
SEARCH = tuning.Search(**SEARCHED, epsilon=2.0)
VARIANTS_OF = dp.TopVariants(
    variants=VARIANTS, counts=COLUMNS[:4], label=COLUMNS[4], cases=5, controls=5, k=1, epsilon=1
)


def search(**asked):
    grid = {"max_depth": [0, 1]}
    return tuning.PrivateSearchCV(id3(**asked), grid, epsilon=2.0, method="all", random_state=1)


def studied(given):
    study = tuning.PrivateStudy(["a", "b"], BEST)
    for _ in study:
        study.tell(1.0, HALF.release(given))
    return study.release


READ = {
    "values": {
        "numbers": {
            "BestOf": lambda values: BEST.release([lambda: (1.0, HALF.release(values).answer)]),
            "PrivateStudy": studied,
        },
        "candidates": {"Levels": dp.Levels(**CODES)},
        "scores": {
            "StableArgmax": lambda scores: dp.StableArgmax(**SURE).release(
                objective(scores, monotone=True)
            ),
        },
    },
    "rows": {
        "edges": {"Hubs": dp.Hubs(**NODES)},
        "points": {
            "HeavyCells": dp.HeavyCells(**CELLS),
            "HeavyCells with intervals": dp.HeavyCells(**{**CELLS, "grid": 9}, **SEQUENCE),
        },
    },
    "table": {
        "edges of persons": {"Hubs of persons": dp.Hubs(**EDGES, **PEOPLE)},
        "points of a table": {
            "HeavyCells, clipped": dp.HeavyCells(outside="clip", **PLACES, **CELLS)
        },
        "points of persons": {
            "HeavyCells of persons": dp.HeavyCells(**PLACES, **CELLS, **PEOPLE)
        },
        "points in groups": {
            "HeavyCells in groups": dp.HeavyCells(**PLACES, **CELLS, by="y", groups=[0, "a"])
        },
        "records of a table": {"BestColumns": dp.BestColumns(k=1, **BY_COLUMN)},
        "keys of columns": {
            "Levels of a column": dp.Levels(column="f", inner="own", **CODES),
            "Levels of numbers": dp.Levels(column="f", inner="own", **NUMBERS),
        },
        "keys of persons": {"Levels of persons": dp.Levels(column="f", **CODES, **PEOPLE)},
        "keys of periods": {"Series": dp.Series(period="g", periods=[0, "a", 2], k=1, **KNOWN)},
    },
    "labelled": {
        "labelled records": {
            "PrivateSelectKBest": fitted(lambda: PrivateSelectKBest(**UNNAMED, k=1)),
            "PrivateClassifier": fitted(
                lambda: tuning.PrivateClassifier(id3(epsilon=1.0), epsilon=1.0, neighbours=AR)
            ),
        },
        "parts of labelled records": {"PrivateSearchCV": fitted(search)},
    },
    "frame": {
        "parts of a frame": {
            "PrivateSearchCV, of a frame": labels_apart(
                lambda rows, labels: search(domains=PUBLIC).fit(rows, labels)
            ),
            "Search": labels_apart(lambda *records: SEARCH.release(records)),
        }
    },
    "counts": {
        "variants": {"TopVariants": VARIANTS_OF},
        "genotypes": {
            "genotype_counts": lambda copies: genotype_counts(copies, np.arange(4) < 2)
        },
    },
    "table of counts": {"variants of a table": {"TopVariants of a table": VARIANTS_OF}},
}
"""By the shape of the data and the way it is read."""
