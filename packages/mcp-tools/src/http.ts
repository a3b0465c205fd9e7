/** @module @animal-store/mcp-tools/http */

import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/**
 * Serves one request of Streamable HTTP without a session. The response is one JSON document: nothing is streamed.
 *
 * @param server Of this request alone. It is closed.
 * @param body The JSON value of the request's body.
 */
export async function serveHttp(server: McpServer, request: Request, body: unknown): Promise<Response> {
  if (await isLegacyRequest(request, body)) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      await server.close();
    }
  }
  const handler = createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 });
  try {
    return await handler.fetch(request, { parsedBody: body });
  } finally {
    await handler.close();
  }
}
