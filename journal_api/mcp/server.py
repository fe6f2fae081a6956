"""The MCP server on standard input and output. Standard output has protocol messages only."""

from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import Tool as ToolDescription

from journal_api import __version__
from journal_api.mcp.api import ToolError
from journal_api.mcp.clients import Connect
from journal_api.mcp.tools import INSTRUCTIONS, TOOLS, Tool, call


async def serve(connect: Connect, *, writes: bool) -> None:
    """Serve requests until standard input ends. Without `writes`, tools that write do not exist."""
    server = build_server(connect, writes=writes)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


def build_server(connect: Connect, *, writes: bool) -> Server[Any]:
    tools = [tool for tool in TOOLS if writes or not tool.writes]
    descriptions = [describe_tool(tool) for tool in tools]
    tools_by_name = {tool.name: tool for tool in tools}

    async def list_tools(context: object, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=descriptions)

    async def call_tool(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = tools_by_name.get(params.name)
            if tool is None:
                raise ToolError(f"There is no such tool, but {', '.join(tools_by_name)}.")
            text = await call(connect, tool, params.arguments or {})
        except ToolError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
        return types.CallToolResult(content=[types.TextContent(text=text)])

    return Server(
        "trading-journal",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def describe_tool(tool: Tool) -> ToolDescription:
    """The tool as tools/list has it. No tool reaches anything but the journal, and all may be repeated."""
    return ToolDescription(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=tool.writes,
            idempotent_hint=not tool.writes,
            open_world_hint=False,
        ),
    )
