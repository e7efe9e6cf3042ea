"""The outcome of a check."""

from __future__ import annotations

from abc import ABC, abstractmethod

from dpselect.errors import AuditError


class Report(ABC):
    """The outcome of a check; ``print`` shows it."""

    __slots__ = ()

    @property
    @abstractmethod
    def ok(self) -> bool:
        """Whether what was checked holds."""

    def raise_if_failed(self) -> None:
        """Do nothing if what was checked holds.

        Raises:
            AuditError: It does not; the message is the report.
        """
        if not self.ok:
            raise AuditError(str(self))
