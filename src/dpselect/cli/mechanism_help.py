"""Help texts that name the registered mechanisms, without importing them for other commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperCommand, TyperOption

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

NAMES = "{mechanisms}"
"""Stands in the help of an option for the names of all mechanisms."""


class CommandWithMechanisms(TyperCommand):
    """A command whose options name all mechanisms where its own help is printed.

    The registry is imported then, and not when the program starts.
    """

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Print the help, with the names in place of :data:`NAMES`."""
        from dpselect.mechanisms import MECHANISMS

        for option in self.params:
            if isinstance(option, TyperOption) and option.help is not None:
                option.help = option.help.replace(NAMES, ", ".join(MECHANISMS))
        super().format_help(ctx, formatter)
