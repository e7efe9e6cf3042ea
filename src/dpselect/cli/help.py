"""The shape of every command's help: what is needed first, examples last."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperCommand

from dpselect.errors import ParameterError

PANELS = (
    *("Needed", "Data", "Question", "Privacy", "New ledger", "Output", "File", "Engine"),
    "Expert",
)
"""Panels of options, in the order of the help; those of no panel stand before all."""

EXAMPLE = re.compile(r"\[bold\](?P<command>dpselect .*)\[/bold\]", re.DOTALL)
"""A paragraph that is an example."""

WIDTH = 76
"""Columns of an example, beside its margin."""


class Command(TyperCommand):
    """A command whose help keeps to ``PANELS`` and which takes an option once."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 -- typer's own
        """Return the options in the order of the help, flags without a type."""
        found = super().get_params(ctx)
        for one in found:
            if getattr(one, "is_flag", False):
                one.metavar = ""
        return sorted(found, key=_place)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the help, a star before what is needed."""
        needed = [one for one in self.params if _place(one) == 0 and not one.required]
        for one in needed:
            one.required = True
        super().format_help(ctx, formatter)
        for one in needed:  # the query itself says what it misses, with the next line
            one.required = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read the arguments; an option that takes one value is refused a second."""
        order: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
        once = [one for one in order if one.param_type_name == "option" and not one.is_flag]
        for at, one in enumerate(once):
            if one in once[:at] and not one.multiple:
                raise ParameterError(f"`{one.name}` is given twice")
        return super().parse_args(ctx, args)


def _place(option: Any) -> int:  # noqa: ANN401 -- typer's own
    panel = getattr(option, "rich_help_panel", None)
    return PANELS.index(panel) if panel in PANELS else -1


def shaped(commands: typer.Typer) -> None:
    """Give each command this shape: paragraphs that the terminal wraps, and its examples."""
    infos: list[Any] = [*commands.registered_commands, commands.info]
    for info in commands.registered_commands:
        info.cls = Command
    for info in infos:
        if isinstance(info.help, str):
            paragraphs = info.help.strip().split("\n\n")
            examples = [found for one in paragraphs if (found := EXAMPLE.fullmatch(one))]
            texts = [one for one in paragraphs if not EXAMPLE.fullmatch(one)]
            info.help = "\n\n".join(" ".join(one.split("\n")) for one in texts)
            if examples:
                shown = "\n\n".join(_wrapped(found["command"]) for found in examples)
                info.epilog = f"Examples:\n\n{shown}"
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            shaped(group.typer_instance)


def _wrapped(command: str) -> str:
    """Return a command in lines that a shell takes as one; options stay with their values.

    What looks like the code of an emoji is kept apart by an empty style.
    """
    words = " ".join(command.replace("\\[", "[").split())
    parts = re.sub(r" (?!-)", "\N{NO-BREAK SPACE}", words)
    lines = textwrap.wrap(
        parts, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    text = escape(" \\\n  ".join(lines).replace("\N{NO-BREAK SPACE}", " "))
    return re.sub(r":(-\d+):", r":[not bold]\1[/]:", text)
