"""Helps of commands, made of what is documented: one shape, one place for each sentence.

The docstring of a command is its help: what it does, paragraphs, and examples that begin with
``$ dpselect``. An option of a query is described where its field is, one of a function in the
``Args`` of its docstring, and one that several commands share in those of ``options``.
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import MISSING
from functools import partial
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from dpselect.cli import options
from dpselect.errors import ParameterError
from dpselect.writing import documented

PANELS = (
    *("Needed", "Data", "Question", "Privacy", "New ledger", "Output", "File", "Engine"),
    "Expert",
)
"""Panels of options, in the order of the help; those of no panel stand before all."""

EXAMPLE = re.compile(r"\$ (?P<command>dpselect .*)", re.DOTALL)
"""A paragraph that is an example."""

WORDS = documented(options, title="Args")
"""What options that several commands share are, by name."""

WIDTH = 76
"""Columns of an example, beside its margin."""


_MARKUP = re.compile(r"(\\*)(\[[a-z#/@][^[]*?])")


def escape(text: str) -> str:
    """Return a text that rich would take for markup as it stands, as its own function does."""
    return _MARKUP.sub(r"\1\1\\\2", text)


def flag(name: str) -> str:
    """Return the option of a field or of a parameter."""
    return f"--{name.removeprefix('as_').replace('_', '-')}"


NO_DEFAULT, OPTION = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY


def parameter(
    name: str,
    kind: Any,
    said: str,
    panel: str | None = None,
    *,
    usual: object = None,
    default: object = None,
) -> inspect.Parameter:
    """Return an option of a command.

    Args:
        name: The name of the field or parameter.
        kind: What is typed: a type that typer knows.
        said: What it is.
        panel: The part of the help that it stands in.
        usual: What the help says of its default.
        default: What is used where it is not given; ``NO_DEFAULT`` if it must be.
    """
    words = flag(name)
    if kind == bool | None:  # may be switched off, too
        words = f"{words}/--no-{words[2:]}"
    help_ = escape(said) + _usual(usual)
    option = typer.Option(words, help=help_, rich_help_panel=panel, show_default=False)
    if kind is bool and default is None:
        default = False
    typed: Any = Annotated[kind | None if default is None else kind, option]
    return inspect.Parameter(name, OPTION, annotation=typed, default=default)


def argument(
    name: str, kind: Any, words: str, default: object = NO_DEFAULT
) -> inspect.Parameter:
    """Return an argument of a command, as ``parameter`` does an option."""
    typed: Any = Annotated[kind, typer.Argument(help=words)]
    return inspect.Parameter(name, OPTION, annotation=typed, default=default)


def _usual(value: object) -> str:
    """Return what the help says of a default."""
    unsaid = any(value is one for one in (None, MISSING, False, NO_DEFAULT))
    if isinstance(value, tuple):
        value = ",".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value)
    return "" if unsaid or value == "" else rf" [dim]\[default: {value}][/]"


def shared(name: str) -> inspect.Parameter:
    """Return an option that several commands share."""
    kind, panel = options.SHARED[name]
    return parameter(name, kind, WORDS[name], panel)


def dialect() -> list[inspect.Parameter]:
    """Return the options that say how a text file is written: the fields of a dialect."""
    from dpselect.tables.dialect import DEFAULTS, Dialect

    said = documented(Dialect, flag) | WORDS
    types = {"strip": bool | None, "skip_lines": int, "column_type": list[str]}
    return [parameter(name, types.get(name, str), said[name], "File") for name in DEFAULTS]


def command(app: typer.Typer, run: Callable[..., Any]) -> None:
    """Add a function as a command, whose docstring is the help.

    Parameters that are keyword-only are options, and those before them arguments. A function
    that takes any keywords takes the options of a text file as well.

    Args:
        app: Where to add it.
        run: The function, by whose name it is called.
    """
    types, said = get_type_hints(run), documented(run, title="Args")
    every: list[inspect.Parameter] = []
    for one in inspect.signature(run).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            every += dialect()
        elif one.name in options.SHARED and one.name not in said:
            every.append(shared(one.name))
        elif one.kind is one.KEYWORD_ONLY:
            kind, words, usual = types[one.name], said[one.name], one.default
            every.append(parameter(one.name, kind, words, usual=usual, default=usual))
        else:
            every.append(argument(one.name, types[one.name], said[one.name], one.default))

    add(app, run.__name__, run, every, run.__doc__)


def add(
    app: typer.Typer,
    name: str,
    run: Callable[..., Any],
    parameters: list[inspect.Parameter],
    said: str | None,
) -> None:
    """Add what takes some parameters as a command with a help."""
    # Not the arguments of the function, which are told one by one.
    text = inspect.cleandoc(said or "").partition("\n\nArgs:")[0]

    def call(**given: Any) -> Any:
        return run(**given)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    app.command(name, help=text)(call)


class Command(TyperCommand):
    """A command whose help keeps to ``PANELS`` and which takes an option once."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options in the order of the help."""
        return sorted(simple(super().get_params(ctx)), key=_place)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, a star before what is needed."""
        needed = [one for one in self.params if _place(one) == 0 and not one.required]
        for one in needed:
            one.required = True
        super().format_help(ctx, formatter)
        for one in needed:  # the query itself says what it misses, with the next line
            one.required = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; an option that takes one value is refused a second."""
        order: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
        once = [one for one in order if one.param_type_name == "option" and not one.is_flag]
        for at, one in enumerate(once):
            if one in once[:at] and not one.multiple:
                raise ParameterError(f"`{one.name}` is given twice")
        return super().parse_args(ctx, args)


def simple(options: list[Any]) -> list[Any]:
    """Return options that convert what is typed by themselves.

    Typer would import pydantic, and make an adapter of each option there is: a fifth of a dry
    run. Flags, which take no value, are shown without a type.
    """
    for one in options:
        one.process_value = partial(_converted, one)
        if getattr(one, "is_flag", False):
            one.metavar = ""
    return options


def _converted(option: Any, ctx: Any, value: Any) -> Any:
    """Return what was typed for an option as what it holds."""
    if option.required and option.value_is_missing(value):
        return type(option).process_value(option, ctx, value)  # which raises
    if value is not None and not isinstance(value, bool):
        kind = option.type_descriptor.annotation
        try:
            value = [*map(*get_args(kind), value)] if option.multiple else kind(value)
        except ValueError:
            of = "an integer" if kind is int else "a number"
            raise ParameterError(f"`{option.name}` must be {of}") from None
    return option.callback(ctx, option, value) if option.callback else value


def _place(option: Any) -> int:
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
            info.help = "\n\n".join(escape(" ".join(one.split("\n"))) for one in texts)
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
    parts = re.sub(r" (?!-)", "\N{NO-BREAK SPACE}", " ".join(command.split()))
    lines = textwrap.wrap(
        parts, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    text = escape(" \\\n  ".join(lines).replace("\N{NO-BREAK SPACE}", " "))
    return re.sub(r":(-\d+):", r":[not bold]\1[/]:", text)
