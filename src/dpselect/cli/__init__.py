"""The command line: one module per command, and one door that errors leave through.

Nothing heavy is imported before a command runs, so that ``dpselect --help`` returns at once.
"""

from dpselect.cli.app import main

__all__ = ["main"]
