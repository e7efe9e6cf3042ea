"""The command line: one module per command, and one function that turns errors into exit codes.

Nothing heavy is imported before a command runs, so that ``dpselect --help`` returns at once.
"""

from __future__ import annotations

import gc
import sys

from dpselect import _optional
from dpselect.errors import MissingDependencyError

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit.

    The exit code is 0 if all went well, and 2 for an error of the caller's or if the packages
    of the command line are not installed.
    """
    try:
        _optional.needed("typer", extra="standard")
        _optional.needed("rich", extra="standard")
    except MissingDependencyError as error:
        sys.stderr.write(f"dpselect: {error}\n")
        sys.exit(2)
    from dpselect.cli.app import main as run

    # What modules hold stays: looking for cycles in it would be a tenth of a dry run.
    gc.set_threshold(100_000)
    run(arguments)
