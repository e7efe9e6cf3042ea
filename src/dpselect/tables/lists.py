"""Public text files of people: lists of values, and documents.

They are written by editors of all systems: a byte order mark, blanks around a line and the
line ends of Windows or old Macs are no part of what they say.
"""

import re
from os import PathLike
from os.path import isfile
from pathlib import Path

from dpselect.errors import DataError, no_file, possible

is_file = isfile
"""Whether a text names a file; one of any length may be no name at all."""

_QUOTED = re.compile(r'^"((?:[^"]|"")*)"$')


def text_of(path: str | PathLike[str], what: str = "a text file") -> str:
    """Return what a public text file says, with one LF at the end of each line.

    Args:
        path: The file.
        what: What it must be, for an error.

    Raises:
        DataError: There is no such file, or it is not in UTF-8.
    """
    try:
        return possible(path).read_text("utf-8-sig")
    except FileNotFoundError:
        raise no_file(path) from None
    except OSError:
        raise DataError(f"{path} must be {what}; it cannot be read") from None
    except UnicodeDecodeError:
        kind = "not UTF-8, but such as UTF-16, Latin-1 or Windows-1252"
        raise DataError(f"{path} is {kind}: save {what} as UTF-8") from None


def lines_of(path: str | PathLike[str], what: str = "a text file") -> list[str]:
    """Return the values of a file of one per line, without empty lines.

    In a ``.csv`` file marks around a value, as a spreadsheet writes, are no part of it.

    Raises:
        DataError: As for ``text_of``.
    """
    lines = _filled(text_of(path, what).split("\n"))
    if Path(path).suffix.lower() != ".csv":
        return lines
    return [_QUOTED.sub(lambda found: found[1].replace('""', '"'), one) for one in lines]


def listed_in(name: str, text: str) -> list[str]:
    """Return public values that are typed as a,b,c, or listed in a file of one per line.

    Args:
        name: The argument.
        text: What was typed; ``a,`` is one value.

    Raises:
        DataError: It is neither.
    """
    if is_file(text):
        return lines_of(text, "a list of one value per line")
    if "," not in text:
        raise DataError(
            f"`{name}` must be a list such as a,b,c (one value as a,) or a text file with one "
            f"per line; there is no {text}"
        )
    return _filled(text.split(","))


def _filled(values: list[str]) -> list[str]:
    return [one for one in (value.strip() for value in values) if one]
