"""The command of this package, by a line."""

from dpselect.extend import Command

AUDIT = Command(
    "dpselect_conformance.command",
    "Check an objective or a mechanism of your own.",
    "Your own scores",
)
