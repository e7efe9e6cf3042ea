"""Rights to spend, and every way to have one twice."""

import copy
import os
import pickle
import weakref

from sklearn.base import clone

import dpselect as dp
from dpselect.errors import BudgetError, InsufficientBudgetError, ParameterError

AR = dp.Neighbours.ADD_REMOVE


def fit(classifier):
    classifier.fit([[0], [1]], ["a", "b"])
    return True


def memory(_):
    return dp.Budget(1.0, neighbours=AR)


def ledger(folder):
    return dp.Budget(1.0, neighbours=AR, path=folder / "ledger.sqlite")


def in_generator(one):
    def yielding():
        yield one
        yield one

    first, second = yielding()
    assert first is second
    return first


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a list": lambda one: copy.deepcopy([one, one])[1],
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 -- our own bytes
    "clone": lambda one: clone(one, safe=False),
    "weak reference": lambda one: weakref.ref(one)(),
    "weak proxy": weakref.proxy,
    "generator": in_generator,
}
REFUSALS = (BudgetError, InsufficientBudgetError, ParameterError)
REFUSED, FAILED = 3, 4


def exit_of_a_fork(use):
    """Return how a child that calls a function ends: 0 or 1 if that is true or not."""
    status = -1
    for _ in range(3):
        child = os.fork()
        if child == 0:  # pragma: no cover -- in the child
            try:
                os._exit(0 if use() else 1)
            except REFUSALS:
                os._exit(REFUSED)
            except BaseException:  # noqa: BLE001 -- a child never returns to pytest
                os._exit(FAILED)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status >= 0:
            break
        # A signal: with threads of other libraries a child may crash before it begins.
    return status


def refused(use, one):
    """Return whether whoever uses a right is refused."""
    try:
        use(one)
    except REFUSALS:
        return True
    return False
