"""The commands of this package, by a line each."""

from dpselect.extend import Command

HUBS = Command(
    "dpselect_applications.hubs.command",
    "Release the k hubs of a network by ego betweenness.",
)
LEVELS = Command(
    "dpselect_applications.levels.command",
    "Release counts of codes, at the finest useful level of their tree.",
)
SERIES = Command(
    "dpselect_applications.series.command",
    "Release the k values that most people have had so far, every period.",
)
VARIANTS = Command(
    "dpselect_applications.variants.command",
    "Release the k variants that are most associated with a disease.",
)
