"""The whole build, as ``make docs`` runs it: pages, builder, checks.

The pages are written to ``build`` as plain Markdown: the builder sees no TeX, no notebook
and no file that the package assembles, and can be another one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from site_build import built, pages

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Build both books into ``site``; return 1 if anything is wrong with it."""
    written = pages.write()
    for book in pages.books():
        builder = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
        command = [*builder, "--config-file", book.settings]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:  # noqa: S603 -- our own words
            return 1
    built.hide_members(ROOT / "site")
    wrong = built.problems(ROOT / "site", written)
    for line in wrong:
        print(line, file=sys.stderr)  # noqa: T201 -- the output of a command
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
