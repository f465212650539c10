"""Call one tool with FastMCP and print what its user sees, as one JSON object.

Usage: fastmcp_call.py URL TOOL [ARGUMENTS]
"""

import asyncio
import json
import sys

from fastmcp import Client


async def main(url: str, tool: str, arguments: dict) -> None:
    async with Client(url) as client:
        tools = await client.list_tools()
        result = await client.call_tool_mcp(tool, arguments)
    seen = {
        "tools": sorted(one.name for one in tools),
        "result": result.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
    json.dump(seen, sys.stdout)


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}))
