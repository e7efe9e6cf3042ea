from dpselect_conformance import (
    ReplayReport as ReplayReport,
    SpendReport as SpendReport,
    check_spends_first as check_spends_first,
    replay as replay,
)

from .admissibility import (
    check_admissible as check_admissible,
)
from .privacy import (
    PrivacyReport as PrivacyReport,
    bounded_range as bounded_range,
    check_private as check_private,
    delta as delta,
    privacy_loss as privacy_loss,
    renyi as renyi,
)
from .report import (
    AdmissibilityReport as AdmissibilityReport,
    Finding as Finding,
    Tightness as Tightness,
    Witness as Witness,
)
