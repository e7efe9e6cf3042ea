"""The command of this package, by a line."""

from dpselect.extend import Command

POOL = Command("dpselect_pooling.command", "Plan and decode pooled tests.", "Plan and check")
