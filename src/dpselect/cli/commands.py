"""The commands of the program, by a line each: ours, and those of other packages.

Packages state theirs as entry points of the group ``dpselect.commands``, from the name to a
``Command`` or to what has its attributes. A module is imported when one of its commands runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from dpselect._optional import stated

if TYPE_CHECKING:
    import typer

GROUP = "dpselect.commands"

RELEASE, OWN, PLAN = "Release an answer", "Your own scores", "Plan and check"
KEEP, ABSENT = "Budget and requests", "In packages not installed"
"""Panels of the list of commands."""


@dataclass(frozen=True)
class Command:
    """A command before its module is imported.

    Attributes:
        module: What registers it: its function ``register``; or else its ``QueryCommand``
            classes, and its function of the name of the command.
        summary: What it does, in a line.
        panel: The part of the list of commands.
    """

    module: str
    summary: str
    panel: str = RELEASE

    def register(self, app: typer.Typer) -> None:
        """Add the command of the module that the app is named after, or what it registers."""
        home = import_module(self.module)
        if hasattr(home, "register"):
            home.register(app)
            return
        from dpselect.cli.help import command

        ours = {
            n: o for n, o in vars(home).items() if getattr(o, "__module__", "") == self.module
        }
        for name, one in ours.items():
            if name == app.info.name:
                command(app, one)
            elif app.info.name == getattr(one, "name", None):
                one().register(app)


def _ours(module: str, summary: str, panel: str = RELEASE) -> Command:
    return Command(f"dpselect.cli.{module}", summary, panel)


COMMANDS = {
    "percentile": _ours("releases", "Release a public value near a percentile, or several."),
    "top": _ours("releases", "Release the k values of a column that most people have."),
    "keys": _ours("releases", "Release the values of a column that enough people have."),
    "map": _ours("map", "Release noisy counts of points in privately selected cells."),
    "nodes": _ours("releases", "Release the k most influential nodes of a network."),
    "tree": _ours("releases", "Train a decision tree privately."),
    "trees-front": _ours("releases", "Evolve cost-sensitive trees privately."),
    "subset": _ours("releases", "Release who tested positive, with a few errors."),
    "record": _ours(
        "releases", "Release which record holds a percentile, rarely what you want."
    ),
    "select": _ours("select", "Release candidates by scores of your own.", OWN),
    "look": _ours("look", "Show the curator how a file is written; not private.", PLAN),
    "domains": _ours(
        "look", "Write a template of a domains file from column names and types.", PLAN
    ),
    "budget": _ours(
        "budget", "Show what a ledger has spent and what remains; or create one.", KEEP
    ),
    "report": _ours("budget", "Write a ledger as one HTML page.", KEEP),
    "run": _ours("request", "Release all queries of a file, within a policy.", KEEP),
    "schema": _ours(
        "request", "Print the JSON schema of the files of 'dpselect run', for editors.", KEEP
    ),
}
"""Commands of the core, by name."""

ELSEWHERE = {
    "audit": "dpselect-conformance",
    **dict.fromkeys(("hubs", "variants", "series", "levels"), "dpselect-applications"),
    **dict.fromkeys(("plan", "planner"), "dpselect-planner"),
    "pool": "dpselect-pooling",
    "papers": "dpselect-studies",
}
"""The distributions of our other commands, by name."""


@cache
def installed() -> dict[str, Command]:
    """Return every command by its name, as the list of commands shows them."""
    found = dict(COMMANDS)
    for name, one in stated(GROUP).items():
        found.setdefault(name, one.load())
    for name, distribution in ELSEWHERE.items():
        found.setdefault(name, Command("", f"pip install {distribution}", ABSENT))
    return found
