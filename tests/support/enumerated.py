"""The law of what is made of draws, by every outcome of each of them."""

from collections import Counter


class _OpenError(Exception):
    """A draw of which a path does not tell the outcome; with its law."""


def law_of(run):
    """Return the law of what ``run(ask)`` returns, which draws by ``ask(law)`` alone."""
    law, waiting = Counter(), [((), 1.0)]
    while waiting:
        path, chance = waiting.pop()
        told = iter(path)

        def ask(one, told=told):
            for outcome in told:
                return outcome
            raise _OpenError(one)

        try:
            law[run(ask)] += chance
        except _OpenError as error:
            [one] = error.args
            waiting += [((*path, value), chance * p) for value, p in one.items() if p > 0]
    return law
