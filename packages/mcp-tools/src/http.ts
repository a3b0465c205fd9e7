/** @module @animal-store/mcp-tools/http */

import { isUtf8 } from 'node:buffer';
import {
  createMcpHandler,
  INVALID_REQUEST,
  isLegacyRequest,
  PARSE_ERROR,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createMcpServer, type McpServerOptions } from './index.ts';
import { parseMessage, rejectSubscription, restoreId } from './message-id.ts';
import { MESSAGES } from './messages.ts';

/** How many levels a message may have: the SDK's schemas recurse. */
const LEVELS_MAX = 100;

/** A response before it is written. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Serves one request of Streamable HTTP without a session. The response is one JSON document: nothing is streamed.
 *
 * @param request Its body is not read.
 * @param bytes The body of the request.
 */
export async function serveHttp(options: McpServerOptions, request: Request, bytes: Buffer): Promise<HttpReply> {
  let message: unknown;
  try {
    if (!isUtf8(bytes)) throw new SyntaxError();
    message = JSON.parse(bytes.toString());
  } catch {
    return rpcError(PARSE_ERROR, MESSAGES.notJson);
  }
  if (isDeeper(message, LEVELS_MAX)) return rpcError(INVALID_REQUEST, MESSAGES.tooDeep(LEVELS_MAX));
  if (Array.isArray(message)) return rpcError(INVALID_REQUEST, MESSAGES.batch);
  message = parseMessage(bytes.toString());

  const headers = new Headers(request.headers);
  // The SDK rejects clients that don't accept both, and sends JSON.
  headers.set('accept', 'application/json, text/event-stream');
  const response = await serveMessage(
    options,
    new Request(request.url, { method: 'POST', headers, signal: request.signal }),
    message,
  );
  const text = await response.text();
  const { method, id } = Object(message);
  const isRequest = typeof method === 'string' && typeof id === 'string';
  const body = isRequest && text !== '' ? JSON.stringify(restoreId({ ...JSON.parse(text), id })) : text;
  return { status: response.status, headers: Object.fromEntries(response.headers), body };
}

async function serveMessage(options: McpServerOptions, request: Request, message: unknown): Promise<Response> {
  const server = createMcpServer(options);
  if (await isLegacyRequest(request, message)) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: message });
    } finally {
      await server.close();
    }
  }
  const rejection = rejectSubscription(message);
  if (rejection !== null) return Response.json(rejection, { status: 404 });
  const handler = createMcpHandler(() => server, { legacy: 'reject' });
  try {
    return await handler.fetch(request, { parsedBody: message });
  } finally {
    await handler.close();
  }
}

const isDeeper = (value: unknown, levels: number): boolean =>
  levels < 0 || Object.values(value ?? {}).some((member) => typeof member === 'object' && isDeeper(member, levels - 1));

function rpcError(code: number, message: string): HttpReply {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
  return { status: 400, headers: { 'content-type': 'application/json' }, body };
}
