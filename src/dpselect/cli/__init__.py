"""The command line: one module per command, and one function that turns errors into exit codes.

Nothing heavy is imported before a command runs, so that ``dpselect --help`` returns at once.
"""

import atexit
import gc
import os
import sys

from dpselect import _optional
from dpselect.errors import MissingDependencyError

__all__ = ["main"]

DEBUG = "DPSELECT_DEBUG"
"""Environment variable that shows tracebacks and panics; they may hold private values."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit.

    The exit code is 0 if all went well, and 2 for an error of the caller's or if the packages
    of the command line are not installed.
    """
    # What modules hold stays: looking for cycles in it, and once more at the end, would be a
    # quarter of a release. No large matrices are multiplied, for which NumPy starts threads.
    gc.set_threshold(1_000_000)
    atexit.register(gc.freeze)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.stderr is sys.__stderr__ and sys.stderr and not os.environ.get(DEBUG):
        # What is written past Python is not ours: polars says on a panic how many rows it read.
        sys.stderr = os.fdopen(os.dup(2), "w", 1, sys.stderr.encoding)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        _optional.needed("typer", extra="standard")
        _optional.needed("rich", extra="standard")
    except MissingDependencyError as error:
        sys.stderr.write(f"dpselect: {error}\n")
        sys.exit(2)
    from dpselect.cli.app import main as run

    run(arguments)
