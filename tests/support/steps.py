"""Count the lines of the library that run for scores of any size, kernels included.

Run as a module with ``NUMBA_DISABLE_JIT=1``, so that no kernel is compiled; it prints the
counts as JSON.
"""

import itertools
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np

import dpselect as dp
from dpselect.combine import COMBINATIONS, by_name
from support.releases.core import mechanisms_at

AR = dp.Neighbours.ADD_REMOVE
LIBRARY = str(Path(dp.__file__).parent)
"""Where the lines are that count; a clone may have the same name as the library."""

HORIZON = 40
SIZES = [10.0**power for power in range(0, 16, 3)]
"""Gaps between scores, in sensitivities."""

MOST = 300_000
"""Lines after which a case is given up."""


class Endless(BaseException):
    """More lines than any bound allows."""


def lines_of(compute):
    """Return how many lines of the library run."""
    count = itertools.count(1)
    last = 0

    def local(_frame, event, _arg):
        nonlocal last
        if event == "line":
            last = next(count)
            if last > MOST:
                raise Endless
        return local

    def trace(frame, _event, _arg):
        return local if frame.f_code.co_filename.startswith(LIBRARY) else None

    sys.settrace(trace)
    try:
        compute()
    except Endless:
        last = MOST
    finally:
        sys.settrace(None)
    return last


def sensitivities():
    table = np.array([0.25, 0.5, 0.75, 1.0])
    keys = [0, 1, 2, 0, 1]
    return {
        "global": dp.GlobalSensitivity(1, AR),
        "a bound for each": dp.GlobalSensitivity(
            [0.25, 0.5, 1.0, 1.0, 0.25], AR, horizon=HORIZON
        ),
        "tabulated": dp.TabulatedSensitivity(table, keys, 1.0, AR, horizon=HORIZON),
        "local": dp.LocalSensitivity(lambda t: table[min(t, 3)], 1.0, AR, horizon=HORIZON),
        "element": dp.ElementSensitivity(
            lambda t: table[np.minimum(np.array(keys) + t, 3)],
            1.0,
            AR,
            horizon=HORIZON,
        ),
    }


def objectives(size, sensitivity):
    """Return two objectives of five candidates with gaps of so many sensitivities."""
    base = np.array([0.0, 1.0, 2.0, 5.0, 7.0])
    return [
        dp.Objective(base * size, sensitivity, highest=10 * size),
        dp.Objective(base[::-1] * size + 0.25, sensitivity, highest=10 * size),
    ]


MECHANISMS = mechanisms_at(1.0, anchor=None)


def counts():
    """Return the lines of every case, for each size of the gaps."""
    found = {}
    for (kind, sensitivity), size in itertools.product(sensitivities().items(), SIZES):
        parts = objectives(size, sensitivity)
        for mechanism in MECHANISMS:
            made = mechanism.for_objective(parts[0])
            case = found.setdefault(f"{mechanism}, {kind}", [])
            case.append(lines_of(lambda made=made, parts=parts: made.unit_scores(parts[0])))
            case = found.setdefault(f"draw of {mechanism}, {kind}", [])
            case.append(lines_of(lambda made=made, parts=parts: made.release(parts[0], 2)))
        for name in COMBINATIONS:
            case = found.setdefault(f"{name}, {kind}", [])
            case.append(lines_of(partial(by_name, name, parts, [1, 2])))
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(counts()))
