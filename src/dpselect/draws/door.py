"""Registry of samplers: the functions that turn real randomness into an output.

Every sampler of the library is decorated with :func:`sampler`, and only modules of
``dpselect.draws`` import OpenDP or :mod:`secrets` (a test reads the imports). Audits can thus
see every draw of a release, in order and in every thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import CodeType
from typing import Any, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
Output = TypeVar("Output")

Handler: TypeAlias = Callable[[str, Callable[[], Any], tuple[Any, ...], dict[str, Any]], Any]
"""Called as ``handler(name, draw, args, kwargs)`` in place of a sampler; ``draw()`` draws."""

SAMPLERS: set[CodeType] = set()
"""The code of every function that is decorated with :func:`sampler`."""

_handler: Handler | None = None
_installing = threading.Lock()


def sampler(function: Callable[P, Output]) -> Callable[P, Output]:
    """Register a function that draws, so that :func:`handled` sees its calls."""
    SAMPLERS.add(function.__code__)
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Output:
        if _handler is None:
            return function(*args, **kwargs)
        return _handler(name, lambda: function(*args, **kwargs), args, kwargs)

    return drawn


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Send every draw of this process to a handler while the block runs; for audits.

    The handler is installed for all threads, so audits of one process run one at a time.
    """
    global _handler  # noqa: PLW0603 -- kernels and thread pools have no context of ours
    with _installing:
        _handler = handler
        try:
            yield
        finally:
            _handler = None
