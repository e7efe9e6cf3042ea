"""Proof by enumeration: is it private, on every pair of neighbours of a small universe?

:func:`check_admissible` holds a sensitivity against its definition, :func:`check_private` an
exact law against its epsilon, :func:`check_spends_first` a release against its budget. They
take synthetic databases and show them in their reports; never give them private data.
"""

from dpselect.audit.admissibility import check_admissible
from dpselect.audit.privacy import bounded_range, delta, privacy_loss, renyi
from dpselect.audit.private import PrivacyReport, check_private
from dpselect.audit.report import AdmissibilityReport, Finding, Tightness, Witness
from dpselect.audit.spending import SpendReport, check_spends_first

__all__ = [
    "AdmissibilityReport",
    "Finding",
    "PrivacyReport",
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
]
