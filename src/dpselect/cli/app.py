"""The program ``dpselect`` and what it does with an error.

An error that we raise on purpose is one line on standard error and exit code 2. Any other is
a bug of ours, and its message may hold a private value: it is named by its type and place
alone.
"""

from __future__ import annotations

import functools
import logging
import os
import re
import sys
import traceback
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from dpselect import __version__
from dpselect.cli import (
    audit,
    budget,
    compare,
    demo,
    keys,
    nodes,
    output,
    papers,
    percentile,
    plan,
    pool,
    report,
    select,
    top,
    tree,
    wording,
)
from dpselect.cli import map as maps
from dpselect.errors import DPSelectError

DEBUG = "DPSELECT_DEBUG"
"""Environment variable that shows tracebacks; they may hold private values."""

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dpselect {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="dpselect",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Choose privately: differentially private selection, exactly drawn."""


for module in (
    percentile,
    top,
    keys,
    nodes,
    maps,
    tree,
    pool,
    select,
    compare,
    plan,
    audit,
    budget,
    report,
    papers,
    demo,
):
    module.register(app)


def _wrap_helps(commands: typer.Typer) -> None:
    """Join the lines of each paragraph of help, so that the terminal wraps them.

    What looks like the code of an emoji is kept apart by an empty style.
    """
    infos: list[Any] = [*commands.registered_commands, commands.info]
    for info in infos:
        if isinstance(info.help, str):
            paragraphs = info.help.strip().split("\n\n")
            joined = "\n\n".join(" ".join(one.split("\n")) for one in paragraphs)
            info.help = re.sub(r":(-\d+):", r":[/][bold]\1:", joined)
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            _wrap_helps(group.typer_instance)


_wrap_helps(app)


@functools.cache
def _command() -> Any:  # noqa: ANN401
    """The tree of commands: a tenth of a second to build, and no run changes it."""
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit: 0 if all went well, 2 for an error of the caller's."""
    given = sys.argv[1:] if arguments is None else arguments
    warnings.showwarning = _warn
    # What other packages log may hold private values, as their warnings may.
    logging.basicConfig(handlers=[logging.NullHandler()])
    try:
        # Without arguments the help is printed, which is all that there is to say.
        code = _command()(args=given or ["--help"], standalone_mode=False)
        if code == INTERRUPTED:  # Typer returns it in silence
            _complain("interrupted", INTERRUPTED)
    except DPSelectError as error:
        options = wording.options_of(_command(), given)
        _complain(wording.with_suggestion(wording.in_options(str(error), options)), 2)
    except typer.TyperException as error:
        _complain(wording.with_suggestion(error.format_message()), 2)
    except (typer.Abort, KeyboardInterrupt):
        _complain("interrupted", INTERRUPTED)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        _complain(
            f"internal error ({type(error).__name__} at {place}); its message may hold "
            f"private values and is not shown, set {DEBUG}=1 to see it",
            70,
        )
    sys.exit(code if isinstance(code, int) else 0)


def _warn(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning of ours as one line; those of other packages may hold private values."""
    if category is UserWarning:
        output.print_warning(str(message))


def _complain(message: str, code: int) -> None:
    sys.stderr.write(f"dpselect: {message}\n")
    sys.exit(code)
