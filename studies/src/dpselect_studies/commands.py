"""The command of this package, by a line."""

from dpselect.extend import Command

PAPERS = Command(
    "dpselect_studies.command", "Reproduce numbered results of the papers.", "Research"
)
