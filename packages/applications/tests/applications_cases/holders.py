"""Applications that hold a right to spend, or records (``tests/test_copies.py``)."""

from dpselect.trees import ID3Classifier
from dpselect_applications.tuning import PrivateSearchCV
from dpselect_applications.tuning.train_validation import Records
from support.holders import fit, ledger, memory


def search(folder, budget=memory, kind=ID3Classifier):
    public = {"domains": [[0, 1]], "classes": ["a", "b"], "max_records": 9}
    grid = {"max_depth": [0, 1]}
    return PrivateSearchCV(kind(1.0, **public), grid, epsilon=0.6, budget=budget(folder))


HOLDERS = {
    "search": (search, fit),
    "search with a ledger": (lambda folder: search(folder, ledger), fit),
}
RECORDS = {"records of a search": Records.read}
