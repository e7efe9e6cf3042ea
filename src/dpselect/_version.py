"""The version of dpselect; looking it up takes long."""

from dpselect._optional import version

__version__ = version()
