"""The hubs of a network through noisy degrees: ``Hubs``."""

from dpselect_applications.hubs.hubs import Hubs

__all__ = ["Hubs"]


def __dir__() -> list[str]:
    return sorted(__all__)
