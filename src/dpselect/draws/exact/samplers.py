"""Real randomness: the operating system's bits, and the registry of functions that draw them.

Only this module reads the operating system's randomness (a test reads the imports), and every
sampler of the library is decorated with ``sampler``. Audits can thus see every draw of a
release, in order and in every thread. A sampler that calls another one is one draw: only the
outer call is seen. Of a ``scope``, such as runs repeated a hidden number of times, the inner
draws are seen, too.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from math import prod
from os import urandom
from random import SystemRandom
from typing import Any, ParamSpec, TypeAlias, TypeVar

from dpselect._optional import np
from dpselect.typing import Array, Values

P = ParamSpec("P")
Output = TypeVar("Output")

Handler: TypeAlias = Callable[[str, Callable[[], Any], tuple[Any, ...], dict[str, Any]], Any]
"""Called as ``handler(name, draw, args, kwargs)`` in place of a sampler; ``draw()`` draws."""

WORD = 64
"""Bits of a word."""

system = SystemRandom()
randbelow, randbits = system.randrange, system.getrandbits

_handler: Handler | None = None
_installing = threading.RLock()
_inside = threading.local()


def words(*shape: int, bits: int = WORD) -> Array:
    """Return independent uniform words of so many bits: unsigned integers."""
    size = bits // 8
    return np.ndarray(shape, f"u{size}", urandom(size * prod(shape)))


@dataclass(frozen=True, slots=True)
class Loss:
    """The privacy loss of one draw.

    Attributes:
        pure: The largest log ratio of the two distributions over all outputs, in both
            directions; nats.
        delta: ``δ(ε)``, the larger of both directions; None where only the pure loss is known.
        drawn: The log ratio of the two distributions at the output that was drawn, where no
            single draw has a useful bound; ``pure`` is 0 then.
        rho: The zCDP parameter of a draw without a pure loss, whose delta is that of the sum
            of these; ``pure`` is 0 then.
        normal: The same of noise so fine that its delta is that of normal noise.
        zcdp: The zCDP parameter of a draw that has a pure loss, where it is less than that of
            every draw of this loss; 0 where it is not known.
        distributions: Logs of the number of outputs of each kind and of the probability of each
            output for both databases, where all are known; for joint deltas.
    """

    pure: float
    delta: Callable[[float], float] | None = None
    drawn: float = 0.0
    rho: float = 0.0
    normal: float = 0.0
    zcdp: float | None = None
    distributions: tuple[Values, Values, Values] | None = None


LOSSES: dict[str, Callable[..., Any]] = {}
"""Privacy losses of draws by the names of their samplers, for replays: each is called with both
private inputs, the public arguments by name and the output; ``secret`` if none is private."""

SCOPES: set[str] = set()
"""The names of scopes."""


def secret(*_: object) -> None:
    """Stand for the loss of a sampler without a private input, whose output stays secret."""


def sampler(function: Callable[P, Output]) -> Callable[P, Output]:
    """Register a function that draws, so that ``intercepted`` sees its calls.

    Its private input is its first argument.
    """
    return _registered(function, seen_inside=False)


def scope(function: Callable[P, Output]) -> Callable[P, Output]:
    """Register a function that calls samplers: ``intercepted`` sees it and its calls.

    One with an argument ``cost`` runs others a hidden number of times and keeps the best.
    """
    SCOPES.add(name_of(function))
    return _registered(function, seen_inside=True)


def name_of(function: Callable[..., object]) -> str:
    """Return the name by which a handler sees a sampler."""
    return f"{function.__module__}.{function.__qualname__}"


def _registered(function: Callable[P, Output], *, seen_inside: bool) -> Callable[P, Output]:
    name = name_of(function)

    @wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Output:
        handler = _handler
        if handler is None or drawing():
            return function(*args, **kwargs)

        def draw() -> Output:
            if seen_inside:
                return function(*args, **kwargs)
            _inside.sampler = True
            try:
                return function(*args, **kwargs)
            finally:
                _inside.sampler = False

        return handler(name, draw, args, kwargs)

    return drawn


def drawing() -> bool:
    """Return whether this thread is inside of a sampler that a handler let draw."""
    return getattr(_inside, "sampler", False)


@contextmanager
def intercepted(handler: Handler) -> Iterator[None]:
    """Send every draw of this process to a handler while the block runs; for audits.

    The handler is installed for all threads, so audits of one process run one at a time. An
    inner block of the same thread replaces the handler until it ends.
    """
    global _handler  # noqa: PLW0603 -- kernels and thread pools have no context of ours
    with _installing:
        outer, _handler = _handler, handler
        try:
            yield
        finally:
            _handler = outer
