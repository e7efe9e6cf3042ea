from .cases import (
    ReleaseCase as ReleaseCase,
    pairs_of_persons as pairs_of_persons,
)
from .objectives.admissibility import (
    check_admissible as check_admissible,
)
from .objectives.privacy import (
    PrivacyReport as PrivacyReport,
    bounded_range as bounded_range,
    check_private as check_private,
    delta as delta,
    privacy_loss as privacy_loss,
    renyi as renyi,
)
from .objectives.report import (
    AdmissibilityReport as AdmissibilityReport,
    Finding as Finding,
    Tightness as Tightness,
    Witness as Witness,
)
from .releases.replays import (
    ReplayReport as ReplayReport,
    replay as replay,
)
from .releases.spending import (
    SpendReport as SpendReport,
    check_spends_first as check_spends_first,
)
