"""Two methods for a curator's server: what a query would cost, and its answer.

The shape is that of an external library of Lomas: ``cost`` and ``query`` take the JSON that an
analyst sent. The ledger of the policy is charged before anything is drawn, and data are never
shown. Who asks is said by the server, which knows, and not by the JSON.
"""

import json
from pathlib import Path
from typing import Any

import dpselect as dp
from dpselect.errors import DPSelectError, ParameterError

KEYS = {"queries", "note", "where"}
"""What an analyst may send: queries by their fields, a note, and which rows."""


class Querier:
    """Answers of one data set to one analyst, within a policy.

    Args:
        policy: The policy, a file in TOML with a ledger.
        analyst: Who asks, as the ledger names them.
    """

    def __init__(self, policy: str | Path, analyst: str) -> None:
        self._policy = dp.Policy.read(policy)
        self._analyst = analyst
        self._policy.budget()  # makes the ledger, or refuses one with other totals

    def cost(self, query_json: dict[str, Any]) -> tuple[float, float]:
        """Return the epsilon and the delta of all queries together; reads no data."""
        plan = self._request(query_json).plan
        return plan.epsilon, plan.delta

    def query(self, query_json: dict[str, Any]) -> dict[str, Any]:
        """Return all answers, by the names of their queries; spends before it draws."""
        request = self._request(query_json)
        answers = request.release()
        plain = {name: _plain(release) for name, release in answers.items()}
        return {"answers": plain, "remaining": request.budget().remaining}

    def _request(self, query_json: dict[str, Any]) -> dp.Request:
        if unknown := set(query_json) - KEYS:
            raise ParameterError(f"there is no key {min(unknown)!r}: give `queries`")
        tables = {name: one for name, one in query_json.items() if name != "where"}
        data = {"where": query_json["where"]} if "where" in query_json else {}
        return dp.Request.from_dict(
            {**tables, "data": data, "analyst": self._analyst}, policy=self._policy
        )


def answer(method: Any, query_json: dict[str, Any]) -> dict[str, Any]:
    """Return what a method returns, or an error that may be shown.

    Errors of dpselect hold nothing private. Any other is a bug, whose message might.
    """
    try:
        return {"ok": True, "result": method(query_json)}
    except DPSelectError as error:
        return {"ok": False, "error": str(error)}
    except Exception as error:  # noqa: BLE001 -- whatever it is, its message may be private
        return {"ok": False, "error": f"internal error ({type(error).__name__})"}


def _plain(release: dp.Release[Any]) -> dict[str, Any]:
    """Return a release as JSON can hold it."""
    plain: dict[str, Any] = json.loads(release.to_json())
    return plain
