"""Releases of columns, by the query and by the estimator, of two tables that are neighbours."""

import dpselect as dp
from dpselect_applications.columns import PrivateSelectKBest
from support.releases.trees import PERSONS, RELATIONS, case, fitted

CASES = [
    case(dp.BestColumns, RELATIONS[1], "persons", k=2, **PERSONS),
    *(case(dp.BestColumns, relation, "two columns", k=2) for relation in RELATIONS),
    case(dp.BestColumns, RELATIONS[0], "in an engine", lazy=True, k=1, criterion="gini"),
    fitted(PrivateSelectKBest, RELATIONS[0], k=2),
]
