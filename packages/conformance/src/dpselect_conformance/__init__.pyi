from .cases import (
    ReleaseCase as ReleaseCase,
    pairs_of_persons as pairs_of_persons,
)
from .replays import (
    ReplayReport as ReplayReport,
    replay as replay,
)
from .spending import (
    SpendReport as SpendReport,
    check_spends_first as check_spends_first,
)
