"""The examples: a service of two methods, the same as tools of MCP."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dpselect as dp
from dpselect.requests.document import claims_known
from support.refusals import refused

EXAMPLES = Path(dp.__file__).parents[2] / "examples"
TOP = {"query": "TopKeys", "column": "ward", "k": 1, "epsilon": 50.0}
ASKED = {"queries": [TOP]}
LONGEST = 260


@pytest.fixture
def service(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    yield import_module("service")
    for name in ("service", "mcp_server"):
        sys.modules.pop(name, None)


@pytest.fixture
def querier(service, clinic):
    return service.Querier(clinic / "policy.toml", "alice")


def entries(clinic):
    return dp.Budget.open(clinic / "clinic.budget").entries


def test_every_example_is_short():
    files = sorted(EXAMPLES.glob("*.py"))

    assert [path.name for path in files] == ["demo.py", "mcp_server.py", "service.py"]
    for path in files:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


class TestService:
    def test_a_cost_is_free_and_a_query_is_answered_and_recorded(self, querier, clinic):
        assert querier.cost(ASKED) == (50.0, 0.0)
        assert entries(clinic) == ()

        found = querier.query({**ASKED, "where": ["year = 2025"], "note": "for the board"})

        assert found["answers"]["TopKeys"]["answer"] == ["heart"]
        assert found["remaining"] == 250.0
        [entry] = entries(clinic)
        assert (entry.analyst, entry.note) == ("alice", "for the board")
        json.dumps(found)

    @pytest.mark.parametrize("key", ["analyst", "policy", "ledger", "data", "unit"])
    def test_who_asks_and_of_what_is_not_up_to_the_analyst(self, querier, key):
        with refused("queries"):
            querier.query({**ASKED, key: "other"})

    def test_errors_that_are_not_ours_show_no_message(self, service):
        def broken(_query):
            raise ValueError("the secret")

        assert service.answer(broken, {}) == {
            "ok": False,
            "error": "internal error (ValueError)",
        }


def call(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.fixture
def ask(service, clinic):  # noqa: ARG001 -- its folder is on the path
    server = import_module("mcp_server").Server(str(clinic / "policy.toml"), "alice")

    def lines(*messages):
        texts = [one if isinstance(one, str) else json.dumps(one) for one in messages]
        return [json.loads(reply) for reply in server.messages(texts)]

    return lines


TOO_LONG = {"query": "TopKeys", "column": "ward", "candidates": {"range": [0, 10**9]}}


class TestTools:
    @pytest.mark.parametrize(
        "line",
        [
            "[" * 100_000,
            call(1, "tools/call", name=["cost"], arguments=ASKED),
            call(1, "tools/call", name="cost", arguments={"queries": [TOO_LONG]}),
            call(1, "tools/call", name="cost", arguments={"queries": 1, "where": {}}),
            '{"jsonrpc": "2.0", "id": NaN, "method": "ping"}',
            '{"jsonrpc": "2.0", "id": [[]], "method": "ping"}',
            '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "\\ud800"}',
            '{"id": ' + "9" * 5000 + ', "method": "ping"}',
        ],
    )
    def test_no_line_ends_the_server(self, ask, line):
        replies = ask(line, call(2, "ping"))

        assert replies[-1]["id"] == 2
        assert len(replies) == 2
        assert "error" in replies[0] or replies[0]["result"]["isError"]

    def test_a_host_finds_the_tools_and_calls_them(self, ask, clinic):
        begun, listed, cost, answered = ask(
            call(1, "initialize", protocolVersion="2025-03-26", capabilities={}),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            call(2, "tools/list"),
            call(3, "tools/call", name="cost", arguments=ASKED),
            call(4, "tools/call", name="query", arguments=ASKED),
        )

        assert begun["result"]["protocolVersion"] == "2025-03-26"
        tools = {tool["name"]: tool for tool in listed["result"]["tools"]}
        assert set(tools) == {"cost", "query"}
        kinds = tools["query"]["inputSchema"]["properties"]["queries"]["items"]["anyOf"]
        names = ["HeavyCells", "Keys", "Percentiles", "TopKeys"]
        assert [one["title"] for one in kinds] == names
        stated = {name for one in kinds for name in one["properties"]}
        # What data can contradict is the policy's to state.
        assert not any(
            claim.can_fail for name, (_, claim) in claims_known().items() if name in stated
        )
        text = json.loads(cost["result"]["content"][0]["text"])
        assert text == {"epsilon": 50.0, "delta": 0.0}
        text = json.loads(answered["result"]["content"][0]["text"])
        assert text["answers"]["TopKeys"]["answer"] == ["heart"]
        assert not answered["result"]["isError"]
        assert len(entries(clinic)) == 1

    def test_a_refusal_is_an_error_of_the_tool(self, ask, clinic):
        wide = {"queries": [{**TOP, "epsilon": 51.0}]}
        [refused] = ask(call(1, "tools/call", name="query", arguments=wide))

        assert refused["result"]["isError"]
        assert "[release] epsilon" in refused["result"]["content"][0]["text"]
        assert entries(clinic) == ()

    @pytest.mark.parametrize(
        ("message", "code"),
        [
            ("{", -32700),
            ("[]", -32600),
            (call(1, "resources/list"), -32601),
            (call(1, "tools/call", name="delete", arguments={}), -32602),
            ({"id": 1, "method": "ping", "params": [1]}, -32602),
        ],
    )
    def test_what_is_no_call_is_an_error_of_the_protocol(self, ask, message, code):
        [reply] = ask(message)

        assert reply["error"]["code"] == code

    def test_it_runs_as_a_program(self, clinic):
        lines = [call(1, "ping"), call(2, "tools/call", name="cost", arguments=ASKED)]
        ran = subprocess.run(
            [sys.executable, EXAMPLES / "mcp_server.py", clinic / "policy.toml", "alice"],
            input="\n".join(map(json.dumps, lines)),
            capture_output=True,
            text=True,
            check=True,
        )

        assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == [1, 2]
        assert ran.stderr == ""
