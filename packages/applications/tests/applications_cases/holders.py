"""Applications that hold a right to spend, or records (``tests/test_copies.py``)."""

from dpselect import BestOf
from dpselect.trees import ID3Classifier
from dpselect_applications.tuning import Geometric, PrivateSearchCV, PrivateStudy
from dpselect_applications.tuning.train_validation import Records
from support.holders import AR, fit, ledger, memory


def search(folder, budget=memory, kind=ID3Classifier):
    public = {"domains": [[0, 1]], "classes": ["a", "b"], "max_records": 9}
    grid = {"max_depth": [0, 1]}
    return PrivateSearchCV(kind(1.0, **public), grid, epsilon=0.6, budget=budget(folder))


def study(folder):
    best = BestOf(repetitions=Geometric(mean=3), epsilon_per_run=0.1, neighbours=AR)
    return PrivateStudy([1], best, budget=memory(folder))


def ask(one):
    """Ask for a run, which is asked for once until its result is told."""
    return one.ask() is not None


HOLDERS = {
    "study": (study, ask),
    "search": (search, fit),
    "search with a ledger": (lambda folder: search(folder, ledger), fit),
}
RECORDS = {"records of a search": Records.read}
