"""The errors that dpselect raises.

All of them are one of these:

    DPSelectError
    ├── ParameterError (ValueError)      an argument is out of its public range
    │   └── PolicyError                  a request goes beyond its policy
    ├── ScoresError (ValueError)         scores are empty, not 1-D or not finite
    ├── SensitivityError (ValueError)    a sensitivity has the wrong shape, sign or bound
    ├── NeighboursError (ValueError)     two neighbour relations meet in one guarantee
    ├── DataError (ValueError)           a table, a column or a file cannot be used
    │   ├── ColumnError                  a column is missing or of the wrong type
    │   └── PublicClaimError             the data contradict what was declared public
    ├── BudgetError (ValueError)         a spend or a ledger is refused
    │   ├── InsufficientBudgetError      the spend would exceed the total
    │   └── LedgerError                  the ledger file is not one, or says something else
    ├── MissingDependencyError (ImportError)   an optional package is not installed
    ├── MissingPackageError (AttributeError)   a package of dpselect is not installed
    └── AuditError (AssertionError)      a claim does not hold on a universe of databases

A message says what was wrong, where, and what would be right. It never holds a score, a
record, a count or a size that was read off private data: an exception is an output outside
of the guarantee.

Messages are written with the names of arguments in backquotes. ``str`` drops these;
``DPSelectError.naming`` replaces the names, for example by the options of a command.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Self

MOST_NAMES, WIDEST = 20, 40
"""Columns that a message names, and the characters of each."""

LONGEST = 8_000
"""Characters of a message; an argument of a million is not quoted whole."""

_NAME = re.compile(r"`(?P<name>\w+)`(?P<given>=?)")


class DPSelectError(Exception):
    """Base of every error raised by dpselect.

    Args:
        message: What was wrong and what would be right; arguments in backquotes.
    """

    def __init__(self, message: str = "") -> None:
        if len(message) > LONGEST:
            message = f"{message[:LONGEST]}... ({len(message):,} characters)"
        super().__init__(message.replace("`", ""))
        self._marked = message

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments that the message speaks of."""
        return tuple(dict.fromkeys(found["name"] for found in _NAME.finditer(self._marked)))

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the line that asked, and the message."""
        from traceback import extract_tb

        home = str(Path(__file__).parent)
        frames = [one for one in extract_tb(self.__traceback__) if home not in one.filename]
        asked = [f"line {one.lineno}: {one.line}" for one in frames[-1:]]
        return [*asked, f"{type(self).__name__}: {self}"]

    def adding(self, more: str) -> Self:
        """Return the error with more at the end of its message."""
        return type(self)(self._marked + more)

    def naming(self, words: Callable[[str], str]) -> str:
        """Return the message with other words for the names of arguments.

        Args:
            words: The word for a name; ``name=value`` becomes ``word value``.
        """
        return _NAME.sub(
            lambda found: words(found["name"]) + (" " if found["given"] else ""), self._marked
        ).replace("`", "")


class ParameterError(DPSelectError, ValueError):
    """An argument is out of its public range."""


class PolicyError(ParameterError):
    """A request goes beyond its policy; the message names the clause."""


class ScoresError(DPSelectError, ValueError):
    """Scores are empty, not one-dimensional or not finite."""


class SensitivityError(DPSelectError, ValueError):
    """A sensitivity has the wrong shape, a wrong sign or an impossible bound."""


class NeighboursError(DPSelectError, ValueError):
    """Two different neighbour relations meet where one guarantee is stated."""


class DataError(DPSelectError, ValueError):
    """A table, a column or a file cannot be used."""


class ColumnError(DataError):
    """A column is missing or of the wrong type."""

    missing: str | None = None
    """The name of the column, if the table does not have it."""


class PublicClaimError(DataError):
    """The data contradict what the caller declared public; no number is given."""


class BudgetError(DPSelectError, ValueError):
    """A spend or a ledger is refused."""


class InsufficientBudgetError(BudgetError):
    """The spend would exceed the total; nothing was spent."""


class LedgerError(BudgetError):
    """The ledger file is not a ledger, or was opened for another total."""


class MissingDependencyError(DPSelectError, ImportError):
    """An optional package is needed that is not installed; the message names the extra."""


class MissingPackageError(DPSelectError, AttributeError):
    """A name, a command or a query is in a package of dpselect that is not installed."""


class AuditError(DPSelectError, AssertionError):
    """A claim about privacy does not hold on an enumerated universe of databases."""


def nearest(given: str, known: Iterable[str], least: float = 0.6) -> str:
    """Return the end of a message that asks for the nearest of known names, if one is near.

    Args:
        given: What was given, in letters of any size.
        known: The names.
        least: The similarity from which on one is near.
    """
    from difflib import get_close_matches  # takes longer than all other errors

    cased = {one.casefold(): one for one in known}
    near = get_close_matches(given.casefold(), cased, n=1, cutoff=least)
    return f"; did you mean {cased[near[0]]!r}?" if near else ""


def not_installed(what: str, package: str) -> MissingPackageError:
    """Return the error of what is in a package that is not installed."""
    name = package.replace("_", "-")
    folder = name.removeprefix("dpselect-")
    place = folder if folder == "studies" else f"packages/{folder}"
    return MissingPackageError(
        f"{what} needs the package {name}: pip install {name}, or ./{place} of a clone"
    )


def in_short(names: Sequence[str]) -> str:
    """Return names on one line, each cut, and of many the first ones and how many follow."""
    some = [" ".join(one.split())[:WIDEST] for one in names[:MOST_NAMES]]
    more = len(names) - len(some)
    return ", ".join(some) + (f" and {more} more" if more else "")


def no_column(
    name: str, columns: Iterable[str], listed: str = "", least: float = 0.6
) -> ColumnError:
    """Return the error of a column that a table does not have.

    Args:
        name: The column.
        columns: The columns of the table; public, as declared by its schema.
        listed: What is said of them; by default what they are.
        least: The similarity from which on one of them is near.
    """
    known = [str(one) for one in columns]
    there = listed or f"the columns are: {in_short(known)}"
    meant = nearest(str(name), known, least) or ";"
    error = ColumnError(f"there is no column {name!r}{meant} {there}")
    error.missing = name
    return error


def no_file(path: object) -> DataError:
    """Return the error of a file that is not there."""
    return DataError(f"there is no file {path}")


def possible(path: str | PathLike[str]) -> Path:
    """Return a path, whether a file is there or not.

    Raises:
        DataError: No file can have such a name.
    """
    try:
        Path(path).stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass
    except (OSError, ValueError):  # too long, or with what no name holds
        raise DataError(f"no file can be called {str(path)!r:.60}") from None
    return Path(path)


def missing_value() -> PublicClaimError:
    """Return the error of a missing value that was declared impossible."""
    return PublicClaimError(
        "a value is missing, which `on_invalid`='raise' declares impossible; "
        "`on_invalid`='repair' goes on without it"
    )


__all__ = [
    name
    for name, one in list(globals().items())
    if isinstance(one, type) and issubclass(one, DPSelectError)
]


def __dir__() -> list[str]:
    return sorted(__all__)
