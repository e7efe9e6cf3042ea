"""The program ``dpselect`` and what it does with an error.

An error that we raise on purpose is one line on standard error and exit code 2. Any other is
a bug of ours, and its message may hold a private value: it is named by its type and place
alone.
"""

import errno
import functools
import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from dpselect.cli import DEBUG, output
from dpselect.cli.commands import ABSENT, COMMANDS, ELSEWHERE, installed
from dpselect.cli.help import shaped, simple
from dpselect.errors import (
    DPSelectError,
    MissingDependencyError,
    MissingPackageError,
    not_installed,
)
from dpselect.writing import in_a_cell, visible

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


class Commands(TyperGroup):
    """A group that makes a command when it is called, and knows the others by a line each."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return simple(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order in which the help lists them."""
        return list(installed())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command that has a line of help, for the list of commands."""
        home = COMMANDS.get(cmd_name) or installed().get(cmd_name)
        return home and TyperCommand(
            name=cmd_name, callback=None, help=home.summary, rich_help_panel=home.panel
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the whole command that some arguments call."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and made(str(name)), rest


@functools.cache
def made(name: str) -> Any:
    """Return a command with its options.

    Raises:
        MissingPackageError: It is of a package that is not installed.
    """
    if (home := COMMANDS.get(name) or installed()[name]).panel == ABSENT:
        raise not_installed(f"dpselect {name}", ELSEWHERE[name])
    part = typer.Typer(name=name, rich_markup_mode="rich", pretty_exceptions_enable=False)
    home.register(part)
    shaped(part)
    return typer.main.get_group(part).commands[name]


def _version(wanted: bool) -> None:
    if wanted:
        from dpselect import __version__

        typer.echo(f"dpselect {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="dpselect",
    cls=Commands,
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


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit: 0 if all went well, 2 for an error of the caller's."""
    given = sys.argv[1:] if arguments is None else arguments
    _escape_labels()
    warnings.showwarning = _warn
    # What other packages log may hold private values, as their warnings may.
    logging.basicConfig(handlers=[logging.NullHandler()])
    try:
        if sys.flags.optimize > 1:
            _complain("Python -OO keeps no help: run it without, or with PYTHONOPTIMIZE=1", 2)
        # Without arguments the help is printed, which is all that there is to say.
        code = typer.main.get_command(app)(args=given or ["--help"], standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # Typer returns it in silence
            _complain("interrupted", INTERRUPTED)
    except (MissingDependencyError, MissingPackageError) as error:
        _complain(str(error), 2)  # the command may be what is missing, with its options
    except DPSelectError as error:
        # A release that a ledger refuses may name what the ledger is created with.
        flags = _flags(["budget"]) | _flags(given)
        notes = [f"  {visible(one)}\n" for one in getattr(error, "__notes__", [])]
        _complain(error.naming(lambda name: flags.get(name, name)), 2, *notes)
    except typer.TyperException as error:
        # A group without a command has printed its help, and has nothing else to say.
        if error.format_message():
            _complain(_suggested(error), 2)
        code = 0
    except (typer.Abort, KeyboardInterrupt):
        _complain("interrupted", INTERRUPTED)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        _end_if_of_the_system(error)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        _complain(
            f"internal error ({type(error).__name__} at {place}); its message may hold "
            f"private values and is not shown, set {DEBUG}=1 to see it",
            70,
        )
    sys.exit(code if isinstance(code, int) else 0)


def _escape_labels() -> None:
    """Write what a terminal has no characters for as escapes: the release may be paid."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _end_if_of_the_system(error: Exception) -> None:
    """End the program in words if the output is full, or a file is refused by its name."""
    if isinstance(error, OSError) and error.filename is not None:
        _complain(f"{error.filename}: {error.strerror}", 2)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        with suppress(OSError):
            sys.stdout.close()  # what is left would be written again at the end
        sys.stdout = None
        _complain("there is no space left to write the output", 2)


def _flags(arguments: Iterable[str]) -> dict[str, str]:
    """Return the options of the command that some words call, by the name in Python."""
    command: Any = None
    for word in arguments:
        if command is None and word in installed():
            command = made(word)
        else:
            command = getattr(command, "commands", {}).get(word, command)
    if default := getattr(command, "default_command", None):
        command = command.commands[default]
    known = getattr(command, "params", ())
    return {one.name: max(one.opts, key=len) for one in known if one.opts}


_UNKNOWN = re.compile(r"No such command '(.*)'")
_EXTRA = re.compile(r"Got unexpected extra argument\S* \((.*)\)")


def _suggested(error: Any) -> str:
    """Return what an error of typer's says of the command line, with what to write."""
    message = str(error.format_message())
    known = [] if error.ctx is None else error.ctx.command.params
    param: Any = getattr(error, "param", None)
    if hasattr(error, "possibilities"):
        given = error.option_name
        own = "; this command has a relation of its own, which its help states"
        flags = [max(one.opts, key=len) for one in known if one.opts[0].startswith("--")]
        return (
            f"no such option: {given}{own if given == '--neighbours' else _near(given, flags)}"
        )
    if param is not None and hasattr(error, "param_type"):
        said = param.help.rstrip(".") if param.help else ""
        return f"give {param.opts[0]}: {said[:1].lower()}{said[1:]}".rstrip(": ")
    if command := _UNKNOWN.search(message):
        return f"no such command: {command[1]}{_near(command[1], installed())}"
    if extra := _EXTRA.search(message):
        return (
            f"nothing takes the words {extra[1]}: a flag such as --dry-run has no value, "
            "values of a list are joined by commas, and what has spaces is quoted"
        )
    return message


SYNONYMS = {
    "percentile": ("median", "quantile", "quantiles", "percentiles"),
    "p": ("percentile", "quantile", "quantiles", "percentiles"),
    "top": ("histogram", "counts", "topk", "top-k"),
    "keys": ("domain", "partitions", "partition-selection"),
    "nodes": ("graph", "network", "centrality"),
    "by": ("group", "group-by", "groupby"),
    "epsilon": ("eps", "price"),
    "on-invalid": ("strict",),
    "user": ("person", "patient"),
    "neighbours": ("neighbors", "adjacency", "relation"),
}
"""Words of other libraries for commands and options, by the names that are suggested."""


def _near(given: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant, as a question; nothing if none is near."""
    from difflib import get_close_matches

    bare = {name.lstrip("-"): name for name in names}
    word = given.lstrip("-")
    synonyms = [name for name, words in SYNONYMS.items() if word in words and name in bare]
    meant = next(iter([*synonyms, *get_close_matches(word, bare, n=1)]), None)
    return "" if meant is None else f"; did you mean {bare[meant]}?"


def _warn(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print a warning of ours as one line; those of other packages may hold private values."""
    if category is UserWarning:
        output.print_note("warning", str(message))


def _complain(message: str, code: int, *notes: str) -> None:
    sys.stderr.writelines([f"dpselect: {in_a_cell(message)}\n", *notes])
    sys.exit(code)
