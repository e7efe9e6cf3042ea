"""Report of an admissibility check, with the worst case of each condition."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from dpselect.errors import ParameterError
from dpselect_conformance.report import Report


@dataclass(frozen=True, slots=True)
class Witness:
    """Where a condition is worst.

    Attributes:
        x: The database.
        y: The neighbour that it is compared with, if any.
        distance: ``t``, if the condition has one.
        candidate: The candidate, if the condition is about one.
    """

    x: Hashable
    y: Hashable = None
    distance: int | None = None
    candidate: Hashable = None

    def __str__(self) -> str:
        parts = {"x": self.x, "y": self.y, "t": self.distance, "candidate": self.candidate}
        return ", ".join(
            f"{name} = {value!r}" for name, value in parts.items() if value is not None
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition, over all pairs, distances and candidates.

    Attributes:
        check: Its name, such as ``"condition (i)"``.
        states: What it states, in symbols.
        ok: Whether it holds everywhere, up to rounding.
        excess: The amount by which the worst case exceeds the allowed value; if the condition
            holds it is 0 or less, and ``-excess`` is the slack. Infinite for a yes-or-no
            condition that fails.
        worst: The worst case; ``None`` where no case is worse than another.
    """

    check: str
    states: str
    ok: bool
    excess: float
    worst: Witness | None = None

    def __str__(self) -> str:
        head = f"{'ok  ' if self.ok else 'FAIL'}  {self.check}: {self.states}"
        where = "" if self.worst is None else f" at {self.worst}"
        if self.ok:
            return head if self.worst is None else f"{head}; slack {-self.excess:.6g}"
        return f"{head}; worst{where}, by {self.excess:.6g}"


@dataclass(frozen=True, slots=True)
class Tightness:
    """How far a sensitivity is above the local sensitivity it bounds.

    Attributes:
        cells: Number of ``(x, t, r)`` that were compared: those below the horizon whose whole
            neighbourhood is in the universe.
        exact: Number of those with ``δ(x, t, r) = LS(x, t, r)``.
        gap: The largest ``δ - LS``, in score units.
        worst: Where it is.
    """

    cells: int
    exact: int
    gap: float
    worst: Witness | None = None

    def __str__(self) -> str:
        if self.cells == 0:
            return "no cell to compare with the local sensitivity"
        if self.exact == self.cells:
            return f"tight: equal to the local sensitivity in all {self.cells} cells"
        return (
            f"equal to the local sensitivity in {self.exact} of {self.cells} cells, above it "
            f"by up to {self.gap:.6g} at {self.worst}"
        )


@dataclass(frozen=True, slots=True)
class AdmissibilityReport(Report):
    """The outcome of ``check_admissible``; ``print`` shows it.

    Attributes:
        findings: One per condition, in the order checked.
        tightness: Whether the sensitivity could be smaller. It is not a condition: a loose
            sensitivity is private too.
        skipped: Names of conditions that could not be checked, each with the reason.
        databases: Number of databases in the universe.
        pairs: Number of unordered pairs of neighbours.
        max_distance: The largest distance checked.
    """

    findings: tuple[Finding, ...]
    tightness: Tightness
    skipped: tuple[str, ...]
    databases: int
    pairs: int
    max_distance: int

    @property
    def ok(self) -> bool:
        """Whether every condition that was checked holds."""
        return all(finding.ok for finding in self.findings)

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the conditions that do not hold."""
        return tuple(finding.check for finding in self.findings if not finding.ok)

    @property
    def tight(self) -> bool:
        """Whether the sensitivity is the local sensitivity wherever they were compared."""
        return 0 < self.tightness.cells == self.tightness.exact

    def finding(self, check: str) -> Finding:
        """Return the finding of that name.

        Raises:
            ParameterError: No condition of that name was checked.
        """
        for finding in self.findings:
            if finding.check == check:
                return finding
        names = ", ".join(repr(finding.check) for finding in self.findings)
        raise ParameterError(f"check must be one of {names}; not {check!r}")

    def __str__(self) -> str:
        verdict = "admissible" if self.ok else "NOT admissible"
        size = f"{self.databases} databases, {self.pairs} pairs of neighbours"
        lines = [
            f"{verdict} on {size}, distances up to {self.max_distance}",
            *(f"  {finding}" for finding in self.findings),
            *(f"  skip  {name}" for name in self.skipped),
            f"  {self.tightness}",
        ]
        return "\n".join(lines)
