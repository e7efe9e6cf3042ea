"""``dpselect papers``: the command of the package dpselect-studies, where it is installed.

Packages add commands through the entry point group ``dpselect.commands``, whose entries name
:class:`typer.Typer` objects.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Annotated

import typer

from dpselect.errors import MissingDependencyError

GROUP = "dpselect.commands"


def register(app: typer.Typer) -> None:
    """Add the commands of other packages, or a notice on how to get ``papers``."""
    found = entry_points(group=GROUP)
    for entry in found:
        app.add_typer(entry.load(), name=entry.name)
    if "papers" not in found.names:
        app.command("papers", context_settings={"ignore_unknown_options": True})(missing)


def missing(
    arguments: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,  # noqa: ARG001
) -> None:
    """Measure the papers' tables and figures anew (needs the package dpselect-studies)."""
    raise MissingDependencyError(
        "dpselect papers needs the package dpselect-studies: pip install dpselect-studies"
    )
