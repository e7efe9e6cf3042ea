"""The two methods of ``service.py`` as tools of the Model Context Protocol.

    python examples/mcp_server.py policy.toml alice

JSON-RPC 2.0, one message on a line, over standard input and output. The host starts the program
for one analyst, whom it names; a model gets no more than the policy and the ledger allow.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import dpselect as dp
from service import Querier, answer

VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
"""Versions of the protocol, the newest first."""

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602

HELP = {
    "cost": "Say what queries would cost, in epsilon and delta. It reads no data.",
    "query": "Answer queries under differential privacy. It spends a budget that does not come "
    "back, so ask for the cost first.",
}


class Server:
    """Answers to the messages of one host."""

    def __init__(self, policy: str, analyst: str) -> None:
        querier = Querier(policy, analyst)
        self._methods = {"cost": querier.cost, "query": querier.query}
        self._policy = dp.Policy.read(policy)

    def messages(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the answer to each line that asks for one."""
        for line in lines:
            if not line.strip():
                continue
            try:
                message = json.loads(line, parse_constant=_refused)
            except (ValueError, RecursionError):
                yield _error(None, PARSE_ERROR, "a message must be JSON")
                continue
            if not isinstance(message, dict) or not isinstance(message.get("method"), str):
                yield _error(None, INVALID_REQUEST, "a message must have a method")
            elif "id" in message:  # others are notifications
                if isinstance(message["id"], str | int | None):
                    yield self._answer(message)
                else:
                    yield _error(None, INVALID_REQUEST, "an id must be a text or an integer")

    def _answer(self, message: dict[str, Any]) -> str:
        params = message.get("params") or {}
        if not isinstance(params, dict):
            return _error(message["id"], INVALID_PARAMS, "params must be an object")
        results = {
            "initialize": self._initialize,
            "ping": lambda _params: {},
            "tools/list": self._list,
            "tools/call": self._call,
        }
        if message["method"] not in results:
            return _error(message["id"], NO_METHOD, "there is no such method")
        result = results[message["method"]](params)
        if result is None:
            return _error(message["id"], INVALID_PARAMS, "there is no such tool")
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "dpselect", "version": dp.__version__},
        }

    def _list(self, _params: dict[str, Any]) -> dict[str, Any]:
        whole = dp.requests.schema(self._policy)["properties"]
        allowed = whole["queries"]["items"]["oneOf"]
        for kind in allowed:
            kind["required"] = ["query", "epsilon"]  # the policy fills in the rest
        schema = {
            "type": "object",
            "properties": {
                "queries": {"type": "array", "items": {"anyOf": allowed}, "minItems": 1},
                "where": whole["data"]["properties"]["where"],
                "note": whole["note"],
            },
            "required": ["queries"],
        }
        return {
            "tools": [
                {"name": name, "description": HELP[name], "inputSchema": schema}
                for name in self._methods
            ]
        }

    def _call(self, params: dict[str, Any]) -> dict[str, Any] | None:
        name, arguments = params.get("name"), params.get("arguments")
        if (
            not isinstance(name, str)
            or name not in self._methods
            or not isinstance(arguments, dict)
        ):
            return None
        found = answer(self._methods[name], arguments)
        result = found.get("result", found.get("error"))
        if isinstance(result, tuple):
            result = dict(zip(("epsilon", "delta"), result, strict=True))
        text = result if isinstance(result, str) else json.dumps(result)
        return {"content": [{"type": "text", "text": text}], "isError": not found["ok"]}


def _refused(constant: str) -> Any:
    """Refuse NaN and infinities, which Python reads and JSON does not have."""
    raise ValueError(constant)


def _error(number: Any, code: int, message: str) -> str:
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error})


def main() -> None:
    """Serve one analyst until the input ends."""
    if len(sys.argv) != 3:
        sys.exit("usage: mcp_server.py POLICY ANALYST")
    sys.stdin.reconfigure(errors="replace")  # a line may be of any bytes
    for reply in Server(sys.argv[1], sys.argv[2]).messages(sys.stdin):
        print(reply, flush=True)


if __name__ == "__main__":
    main()
