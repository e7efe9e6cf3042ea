"""Running counts that are released again after every period, for one price: ``Series``."""

from dpselect_applications.series.release import SeriesRelease
from dpselect_applications.series.series import Series

__all__ = ["Series", "SeriesRelease"]


def __dir__() -> list[str]:
    return sorted(__all__)
