"""Limits on the records of a person whose numbers a percentile is of."""

from __future__ import annotations

from dpselect.errors import ParameterError
from dpselect.tables import users
from dpselect.tables.users import UserCap


def user_cap(column: str | None, user: str | None, max_per_user: int | None) -> UserCap | None:
    """Return the limit of public arguments, None if every record is a person of its own.

    Raises:
        ParameterError: One of two arguments that go together is missing, or out of range.
    """
    cap = users.user_cap(user, max_per_user)
    if cap is None:
        return None
    if column is None:
        raise ParameterError("user is for tables: name the column of the numbers too")
    if cap.column == column:
        raise ParameterError(f"column {user!r} cannot be the user and the number")
    return cap
