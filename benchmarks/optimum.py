"""The least mean shortfall of any private mechanism on small universes, and of ours.

Run: ``python benchmarks/optimum.py``; writes ``benchmarks/results/optimum.csv`` and prints the
table. Universes and programmes are those of ``tests/support/optimum.py``.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.optimum import (  # type: ignore[import-not-found]
    UNIVERSES,
    least_and_found,
)

RESULTS = Path(__file__).with_name("results") / "optimum.csv"
EPSILONS = (0.5, 1.0, 2.0)


def main() -> None:
    """Write and print the table."""
    rows = []
    for name, universe in UNIVERSES.items():
        for epsilon in EPSILONS:
            found = least_and_found(universe, epsilon)
            rows.append(
                {"universe": name, "epsilon": epsilon}
                | {key: f"{value:.6f}" for key, value in found.items()}
            )
            print(rows[-1])
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
