"""Lists the tools, adds an animal twice with one key, and gets one that is missing, with and without a handshake."""

import asyncio
import json
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(mode: str) -> None:
    headers = {"Authorization": f"Bearer {os.environ['API_KEY']}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(os.environ["MCP_URL"], http_client=http)
        async with Client(transport, mode=mode) as client:
            tools = await client.list_tools()
            rex = {"name": "Rex", "categoryId": "9223372036854775807", "idempotencyKey": "k"}
            pets = [(await client.call_tool("create_pet", rex)).structured_content for _ in range(2)]
            missing = await client.call_tool("get_pet", {"id": "7"})
            print(json.dumps([[tool.name for tool in tools.tools], *pets, missing.is_error]))


for mode in ["legacy", "auto"]:
    asyncio.run(main(mode))
