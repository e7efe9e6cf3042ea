"""Count what is wrong, by query: ``python tests/truth/counted.py 200 percentiles``."""

import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1]))

from hypothesis import Phase, given, seed, settings

from truth.test_truth import QUESTIONS, each, wrong


class FaultError(Exception):
    """Something is wrong with an answer."""


def asked_of(name, cases, told):
    """Call a function with what is wrong with the answer to each case, or nothing."""

    @settings(each, max_examples=cases, phases=[Phase.generate], derandomize=True)
    @seed(name)
    @given(QUESTIONS[name])
    def ask(question):
        try:
            fault = wrong(question)
        except Exception as error:  # noqa: BLE001 -- an exception is no answer
            fault = f"{question}\n{error!r}"
        told(fault)

    ask()


def is_found(name, cases):
    """Return whether something is wrong; no case is asked after the first that is."""

    def told(fault):
        if fault:
            raise FaultError(fault)

    try:
        asked_of(name, cases, told)
    except FaultError:
        return True
    return False


def counted(name, cases):
    """Return how many cases were asked, and what is wrong, the shortest text first."""
    told = []
    asked_of(name, cases, told.append)
    return len(told), sorted(filter(None, told), key=len)


if __name__ == "__main__":
    cases, part = int(sys.argv[1]), " ".join(sys.argv[2:])
    for name in QUESTIONS:
        if part in name:
            start = process_time()
            asked, faults = counted(name, cases)
            cost = (process_time() - start) / max(asked, 1) * 1000
            sys.stdout.write(f"{name:44} {len(faults):6} of {asked:6}  {cost:5.1f} ms\n")
            sys.stdout.write("".join(f"    {one[:600]}\n" for one in faults[:3]))
            sys.stdout.flush()
