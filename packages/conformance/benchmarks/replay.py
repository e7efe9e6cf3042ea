r"""Replays of every releasing function: the largest share of its budget that a pair used.

Run, in the folder of the project, with 100 neighbouring pairs of each release::

    pytest --pyargs dpselect_conformance --pairs 100 -k no_release \
        -o junit_family=xunit1 --junitxml=replay.xml
    python benchmarks/replay.py replay.xml

Writes ``benchmarks/results/replay.csv`` from the report of the tests; a report of some releases
(``pytest -k "halves and add"``) replaces their lines alone. A share of 1 is all that the plan
states; a release whose noise must stay secret cannot be replayed and has none.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

RESULTS = Path(__file__).with_name("results") / "replay.csv"
TEST = "test_no_release_uses_more_than_its_plan_states"


def shares(report: Path) -> dict[str, float]:
    """Return the largest share of each release."""
    found = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 -- our own report
        name, _, release = case.get("name", "").partition("[")
        values = [
            float(one.get("value", ""))
            for one in case.iter("property")
            if one.get("name") == "largest share"
        ]
        if name == TEST and values:
            found[release.removesuffix("]")] = values[0]
    return found


def stored() -> dict[str, float]:
    """Return the largest share of each release that was measured before."""
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return {row["release"]: float(row["largest share"]) for row in csv.DictReader(file)}


def main() -> None:
    """Write and print the table."""
    found = stored()
    for report in sys.argv[1:]:
        found |= shares(Path(report))
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["release", "pairs", "largest share"])
        writer.writerows([name, 100, f"{found[name]:.6f}"] for name in sorted(found))
    print(f"{len(found)} releases, the largest share is {max(found.values()):.6f}")


if __name__ == "__main__":
    main()
