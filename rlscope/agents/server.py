"""The tools in the Model Context Protocol, over stdin and stdout."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from rlscope._version import __version__
from rlscope.agents import quoted
from rlscope.agents.answer import Answer
from rlscope.agents.folder import Folder
from rlscope.agents.tools import diff as diff_tool
from rlscope.agents.tools import findings as finding_tool
from rlscope.agents.tools import query as query_tool
from rlscope.agents.tools import record as record_tool
from rlscope.agents.tools import runs as run_tool
from rlscope.agents.tools import source as source_tool
from rlscope.agents.tools import summary as summary_tool
from rlscope.errors import Refused, RlscopeError
from rlscope.relations.schema import store

SCHEMA_URI = "rlscope://schema"
_INSTRUCTIONS = (
    "rlscope says where the time of recorded reinforcement learning programs goes. Begin with "
    "runs, then findings. It says what to mend first, at which line, and what that is worth. "
    "Then source shows the lines and what they cost, and summary where all time goes. For other "
    f"questions, query runs SQL over relations, which the resource {SCHEMA_URI} describes. "
    f"{quoted.NOTE}"
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_RUNS_ANYTHING = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
)

Run = Annotated[str, Field(description="a run, as the tool runs names it")]
Runs = Annotated[list[str], Field(min_length=1, max_length=50, description="one run or several")]
Few = Annotated[int, Field(ge=1, le=100)]


def serve(folder: Folder, *, record_seconds: float | None) -> None:
    """Answers until stdin ends. `record_seconds`: the longest run that may be recorded; None: none
    may."""
    server(folder, record_seconds=record_seconds).run("stdio")


def server(folder: Folder, *, record_seconds: float | None) -> MCPServer:
    """The server of a folder."""
    made: MCPServer = MCPServer(
        "rlscope", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    _add_readers(made, folder)
    _add_query(made, folder)
    _add_diff(made, folder)
    if record_seconds is not None:
        _add_record(made, folder, record_seconds)
    return made


def _add_readers(made: MCPServer, folder: Folder) -> None:
    @made.tool(annotations=_READS)
    def runs(
        name: Annotated[str, Field(description="a pattern, such as ppo*")] = "*",
        sort: Literal["date", "length", "name", "state", "directory"] = "date",
        limit: Few = 20,
    ) -> CallToolResult:
        """Lists the recorded runs: how each ended, where its time went, what to mend first. A run
        without a headline was not analysed yet: findings or summary does it."""
        return _result(lambda: run_tool.runs(folder, name=name, sort=sort, limit=limit))

    @made.tool(annotations=_READS)
    def summary(run: Run) -> CallToolResult:
        """Says where the time of a run went, by operation and layer, and how far to trust it."""
        return _result(lambda: summary_tool.summary(folder, run))

    @made.tool(annotations=_READS)
    def findings(run: Run, limit: Few = 5) -> CallToolResult:
        """Says what to mend first in a run: the line, the price with its interval, the evidence,
        the fix, and when the fix changes nothing."""
        return _result(lambda: finding_tool.findings(folder, run, limit=limit))

    @made.tool(annotations=_READS)
    def source(
        run: Run,
        file: Annotated[
            str, Field(description="path, or the end of one; without it: the hottest lines")
        ] = "",
        line: Annotated[int, Field(ge=1)] = 1,
        context: Annotated[int, Field(ge=0, le=60, description="lines before and after")] = 10,
    ) -> CallToolResult:
        """Shows lines of the program as it ran, and the time that each of them took."""
        if not file:
            return _result(lambda: source_tool.hottest(folder, run))
        return _result(
            lambda: source_tool.excerpt(folder, run, file=file, line=line, context=context)
        )


def _add_query(made: MCPServer, folder: Folder) -> None:
    @made.tool(annotations=_READS, description=_query_description())
    def query(
        run: Run,
        sql: Annotated[str, Field(description="one SELECT of DuckDB's dialect")],
        rows: Annotated[int, Field(ge=1, le=query_tool.MOST_ROWS)] = 50,
    ) -> CallToolResult:
        return _result(lambda: query_tool.query(folder, run, sql=sql, rows=rows))

    @made.resource(SCHEMA_URI, title="relations of a run", mime_type="application/json")
    def schema() -> str:
        """Every relation that query can read, with its columns and their meaning."""
        return _json(query_tool.schema())


def _query_description() -> str:
    return (
        "Runs one SELECT over the relations of a run. It reads nothing else, ends after "
        f"{query_tool.SECONDS:g} s, and gets at most {query_tool.MOST_ROWS} rows. Relations: "
        f"{', '.join(store.relations())}."
    )


def _add_diff(made: MCPServer, folder: Folder) -> None:
    @made.tool(annotations=_READS)
    def diff(base: Runs, new: Runs) -> CallToolResult:
        """Says what became slower or faster from the runs of base to those of new, as far as noise
        lets anybody tell. Several runs of each side tell much smaller differences than one."""
        return _result(lambda: diff_tool.diff(folder, base=base, new=new))


def _add_record(made: MCPServer, folder: Folder, longest: float) -> None:
    @made.tool(annotations=_RUNS_ANYTHING)
    def record(
        command: Annotated[list[str], Field(min_length=1, description="the program first")],
        run: Annotated[str, Field(description="a new name, such as runs/ppo-2")],
        working_folder: str = ".",
        seconds: Annotated[float, Field(gt=0)] = longest,
    ) -> CallToolResult:
        """Runs a command under rls-prof, and records it as a new run. No shell reads it. It is
        ended when its seconds are over, or those of the server; what was recorded until then is
        kept."""
        return _result(
            lambda: record_tool.record(
                folder,
                command,
                run=run,
                working_folder=working_folder,
                seconds=min(seconds, longest),
            )
        )


def _result(answered: Callable[[], Answer]) -> CallToolResult:
    """The answer as an object, and as its text for clients that take no objects."""
    try:
        value = answered()
    except Refused as error:
        raise ToolError(str(error)) from error
    except RlscopeError as error:
        # A message may name what a program named.
        raise ToolError(quoted.text(str(error), quoted.SENTENCE)) from error
    return CallToolResult(
        content=[TextContent(type="text", text=_json(value))], structured_content=value
    )


def _json(value: Answer) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
