"""What is said of reading data: progress, how fields are read, and errors without values."""

from bisect import insort
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeAlias, TypeVar

from dpselect.errors import DPSelectError

T = TypeVar("T")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the queries done and all of them; both are public."""

MOST_SUMS = 200
"""Sums of one query; more go in several."""


_READ: ContextVar[list[str] | None] = ContextVar("read", default=None)


class holding(Generic[T]):  # noqa: N801 -- said as a function, and faster than one
    """Give a variable of the context a value inside the block."""

    def __init__(self, variable: ContextVar[Any], value: T) -> None:
        self._variable, self._value = variable, value

    def __enter__(self) -> T:
        self._before = self._variable.set(self._value)
        return self._value

    def __exit__(self, *_: object) -> None:
        self._variable.reset(self._before)


def noting() -> AbstractContextManager[list[str]]:
    """Collect what is noted of reading inside the block; public."""
    return holding(_READ, [])


def note(said: str) -> None:
    """Note how fields are read, once, in an order that no order of reading decides; public."""
    notes = _READ.get()
    if notes is not None and said not in notes:
        insort(notes, said)


def replaced(compute: Callable[[], T], refusal: Callable[[], DPSelectError]) -> T:
    """Return what a function returns, or raise another error in place of any but ours.

    Engines and NumPy quote values in their messages. ``raise ... from None`` hides such an
    error from tracebacks but keeps it as ``__context__``, which reporters of crashes send away;
    one that is raised after the first was dealt with has no context.

    Args:
        compute: The function, which may raise anything.
        refusal: Returns the error to raise.
    """
    try:
        return compute()
    except DPSelectError:
        raise
    except BaseException as raised:  # every engine has its own, and each may quote values
        # A panic of polars is no Exception.
        if not isinstance(raised, Exception) and type(raised).__name__ != "PanicException":
            raise
        error = refusal()
    raise error


def stated_rows(data: object) -> Mapping[str, object]:
    """Return which rows of a source are read, if data say so; public."""
    # Of the class: to a frame of pandas such a name is a column.
    return getattr(data, "stated_rows", {}) if hasattr(type(data), "stated_rows") else {}


class _Watch:
    """Progress callback and counters."""

    def __init__(self, show: Progress) -> None:
        self.show, self.done, self.whole = show, 0, 0


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


def watching(show: Progress) -> AbstractContextManager[object]:
    """Report progress of engine queries inside the block.

    Args:
        show: Called before the first query of a release and after each, with the number done
            and the number of all: at most so many, since a tree can stay small, and Spark takes
            fewer.
    """
    return holding(_WATCH, _Watch(show))


def expect(queries: int) -> None:
    """Report that at most so many queries follow."""
    watch = _WATCH.get()
    if watch is not None and queries:
        watch.done, watch.whole = 0, queries
        watch.show(0, queries)


@contextmanager
def query() -> Iterator[None]:
    """Report the query of the block, if it was expected."""
    yield
    watch = _WATCH.get()
    if watch is not None and watch.done < watch.whole:
        watch.done += 1
        watch.show(watch.done, watch.whole)
