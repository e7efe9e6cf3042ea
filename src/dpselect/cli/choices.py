"""Help texts with the names of all mechanisms and combinations."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class ListsNames(TyperCommand):
    """A command whose options may have ``{mechanisms}`` or ``{combinations}`` in their help.

    The registered names replace it when the help is printed, and not when the program
    starts: the registries import NumPy.
    """

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401 -- typer's own context has no name
        """Return the help with the names filled in."""
        from dpselect.combine import COMBINATIONS
        from dpselect.mechanisms import MECHANISMS

        names = {"{mechanisms}": MECHANISMS, "{combinations}": COMBINATIONS}
        for option in self.params:
            text = getattr(option, "help", None)
            for place, registry in names.items():
                text = text and text.replace(place, ", ".join(registry))
            option.help = text  # type: ignore[attr-defined]
        return super().get_help(ctx)
