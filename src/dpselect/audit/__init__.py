"""Checks of privacy claims by enumeration of small universes of databases.

``check_admissible`` compares a sensitivity with its definition, ``check_private`` an exact
distribution with its epsilon, ``check_spends_first`` a release with its budget, and ``replay``
a release with its plan on two neighbouring databases. They take synthetic databases and may
show them in their reports; never give them private data.
"""

from dpselect.audit.admissibility import check_admissible
from dpselect.audit.privacy import (
    PrivacyReport,
    bounded_range,
    check_private,
    delta,
    privacy_loss,
    renyi,
)
from dpselect.audit.replay import ReplayReport, replay
from dpselect.audit.report import AdmissibilityReport, Finding, Tightness, Witness
from dpselect.audit.spending import SpendReport, check_spends_first

__all__ = [
    "AdmissibilityReport",
    "Finding",
    "PrivacyReport",
    "ReplayReport",
    "SpendReport",
    "Tightness",
    "Witness",
    "bounded_range",
    "check_admissible",
    "check_private",
    "check_spends_first",
    "delta",
    "privacy_loss",
    "renyi",
    "replay",
]


def __dir__() -> list[str]:
    return sorted(__all__)
