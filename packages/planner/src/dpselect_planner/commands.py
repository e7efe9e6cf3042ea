"""The commands of this package, by a line each."""

from dpselect.extend import Command

PANEL = "Plan and check"

PLAN = Command(
    "dpselect_planner.command",
    "Compute which mechanism, epsilon or number of people a task needs.",
    PANEL,
)
PLANNER = Command("dpselect_planner.command", "Open the planner in the browser.", PANEL)
