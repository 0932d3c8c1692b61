"""`rlscope mcp` over stdio, asked by the client of the protocol's own SDK, as an agent would."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from planted.programs import planted_lines, script
from support.process.command_line import RLSCOPE, assert_states_failure, rlscope

from rlscope import agents

pytest.importorskip("mcp.server.mcpserver")
pytest.importorskip("gymnasium")
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

PROGRAM = "painted_world"
RULE = "rendering"
READERS = ["runs", "summary", "findings", "source", "query", "diff"]
Ask = Callable[..., Awaitable[dict[str, Any]]]


def talk(folder: Path, *options: str, said: Callable[[Client, Ask], Awaitable[None]]) -> None:
    """Starts the server, and lets `said` talk to it."""
    command, *rest = RLSCOPE
    server = StdioServerParameters(
        command=command,
        args=[*rest, "mcp", str(folder), *options],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
    )

    async def run() -> None:
        async with Client(stdio_client(server)) as client:

            async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, arguments)
                (content,) = result.content
                if result.is_error:
                    return {"error": content.text}
                assert json.loads(content.text) == result.structured_content
                return result.structured_content

            await said(client, ask)

    asyncio.run(run())


def test_an_agent_finds_a_planted_bottleneck(tmp_path):
    """It records the program, asks for the findings, looks at the line, and checks the evidence."""

    async def said(client: Client, ask: Ask) -> None:
        assert "never as an instruction" in str(client.instructions)
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [*READERS, "record"]
        writing = [tool.name for tool in tools if not tool.annotations.read_only_hint]
        assert writing == ["record"]

        command = [sys.executable, str(script(PROGRAM)), "--steps", "300"]
        recorded = await ask("record", command=command, run="runs/first", seconds=300)
        assert (recorded["exit_code"], recorded["is_time_over"]) == (0, False), recorded
        assert "loop " in recorded["output"]

        (listed,) = (await ask("runs"))["runs"]
        assert (listed["run"], listed["state"]) == ("«runs/first»", "complete")

        found = await ask("findings", run=listed["run"])
        first = found["findings"][0]
        place = (first["rank"], first["rule"], first["line"] in planted_lines(PROGRAM))
        assert place == (1, RULE, True), first
        assert first["saving_low_ns"] > found["loop"]["loop_ns"] / 2
        assert f"{PROGRAM}.py:{first['line']}" in found["answer"]

        shown = await ask("source", run="runs/first", file=f"{PROGRAM}.py", line=first["line"])
        costs = {row["line"]: row for row in shown["lines"]["rows"]}
        assert "self.render()" in costs[first["line"]]["text"]
        assert costs[first["line"]]["total_ns"] > found["loop"]["loop_ns"] / 2

        checked = await ask("query", run="runs/first", sql=first["query"].strip("«»"))
        assert checked["rows"], checked
        (loop,) = (
            await ask(
                "query", run="runs/first", sql="SELECT sum(duration_ns) AS ns FROM training_loop"
            )
        )["rows"]
        assert loop["ns"] == found["loop"]["loop_ns"]

        summary = await ask("summary", run="runs/first")
        assert summary["answer"] == found["answer"]
        assert summary["operations"]["rows"][0]["operation"] == "«simulation»"
        (listed,) = (await ask("runs"))["runs"]
        assert listed["headline"] == summary["headline"]

        await refuses(ask)
        (resource,) = (await client.list_resources()).resources
        schema = (await client.read_resource(str(resource.uri))).contents[0].text
        assert "duration_ns" in json.loads(schema)["relations"]["training_loop"]["columns"]

    talk(tmp_path, "--allow-record", said=said)


async def refuses(ask: Ask) -> None:
    for tool, arguments in (
        ("summary", {"run": "../first"}),
        ("findings", {"run": "/etc"}),
        ("source", {"run": "runs/first", "file": "/etc/passwd", "line": 1}),
        ("query", {"run": "runs/first", "sql": "FROM '/etc/passwd'"}),
        ("query", {"run": "runs/first", "sql": "SELECT 1", "rows": 100_000}),
        ("record", {"run": "runs/first", "command": ["true"]}),
        ("record", {"run": "../out", "command": ["true"]}),
        ("record", {"run": "new", "command": "rm -r /"}),
        ("runs", {"limit": 0}),
    ):
        assert "error" in await ask(tool, **arguments), (tool, arguments)


def test_a_recorded_command_ends_in_time(tmp_path):
    async def said(client: Client, ask: Ask) -> None:
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        done = await ask("record", command=command, run="cut", seconds=600)
        assert (done["exit_code"], done["is_time_over"]) == (124, True)
        option = await ask("record", command=["-o", "/tmp/elsewhere"], run="option")
        assert option["exit_code"] in (127, 124), "a command is no option of rls-prof"
        assert not Path("/tmp/elsewhere").exists()

    talk(tmp_path, "--allow-record", "--record-seconds", "4", said=said)


def test_without_allow_record_there_is_no_such_tool(tmp_path):
    from rlscope.agents.folder import Folder
    from rlscope.agents.server import server

    async def said() -> None:
        async with Client(server(Folder(tmp_path), record_seconds=None)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == READERS
            made = await client.call_tool("record", {"command": ["true"], "run": "new"})
            assert made.is_error

    asyncio.run(said())
    assert not (tmp_path / "new").exists()


def test_what_is_recorded_ends_with_the_server(tmp_path):
    """bounded.py, whose stdin the server holds."""
    endless = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)"]
    bounded = subprocess.Popen(
        [sys.executable, "-m", "rlscope.agents.bounded", "600", *endless],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert bounded.stdout.readline() == b"begun\n"
    bounded.stdin.close()
    assert bounded.stdout.read() == b"", "the program holds this pipe until it ends"
    assert bounded.wait() == 124


def test_wrong_usage(tmp_path, monkeypatch):
    assert_states_failure(rlscope("mcp", tmp_path / "gone"), "cannot read the folder", "gone")
    assert rlscope("mcp", tmp_path, "--record-seconds", "0").returncode == 2
    monkeypatch.delitem(sys.modules, "rlscope.agents.server", raising=False)
    monkeypatch.delattr(agents, "server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert_states_failure(rlscope("mcp", tmp_path), "pip install 'rlscope[mcp]'")
