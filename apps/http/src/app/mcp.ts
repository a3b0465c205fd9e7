import { isUtf8 } from 'node:buffer';
import type { Catalogue } from '@animal-store/domain';
import { errorCode, type HeaderFields, HttpError, JSON_TYPE, type Reply } from './errors.ts';
import type { Handle } from './handler.ts';
import { requireJson } from './json.ts';
import { CLIENT_MESSAGES } from './messages.ts';

export interface McpOptions {
  readonly catalogue: Catalogue;
  /** Origins whose scripts get access; `*` for all. */
  readonly corsOrigins: ReadonlySet<string>;
  readonly version: string;
}

/** How many levels a body may have: the SDK's schemas recurse. */
const LEVELS_MAX = 100;

/**
 * `POST /mcp`: the use cases as tools of the Model Context Protocol, over Streamable HTTP without sessions. Errors before the
 * SDK have the Error shape, later ones that of JSON-RPC.
 */
export function mcp({ catalogue, corsOrigins, version }: McpOptions): Handle {
  return async (c, { incoming, holder, readBody }) => {
    // MCP, Streamable HTTP, security warning: a page could reach a service that listens on this machine (DNS rebinding).
    const origin = incoming.header('origin');
    if (origin !== undefined && !corsOrigins.has('*') && !corsOrigins.has(origin)) {
      throw new HttpError('forbidden', CLIENT_MESSAGES.originIsForbidden);
    }
    requireJson(incoming);
    const message = jsonIn(await readBody());
    if (message === undefined) return rpcError(-32700, CLIENT_MESSAGES.bodyIsNotJson);
    if (isDeeper(message, LEVELS_MAX)) return rpcError(-32600, CLIENT_MESSAGES.bodyIsTooDeep(LEVELS_MAX));
    if (Array.isArray(message)) return rpcError(-32600, CLIENT_MESSAGES.batch);
    let details: HeaderFields = {};
    let failure: unknown = null;
    const onCall = (tool: string, error: unknown) => {
      details = error === null ? { tool } : { tool, error: errorCode(error) };
      failure = error;
    };
    // Loaded on use: the SDK takes as long as the rest of a start.
    const { createMcpServer } = await import('@animal-store/mcp-tools');
    const { serveHttp } = await import('@animal-store/mcp-tools/http');
    const server = createMcpServer({ catalogue, holder, version, onCall });
    const response = await serveHttp(server, c.req.raw, message);
    const { status, headers } = response;
    return { status, headers: Object.fromEntries(headers), body: await response.text(), details, error: failure };
  };
}

/** undefined if the bytes are not JSON. */
function jsonIn(bytes: Buffer): unknown {
  try {
    return isUtf8(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return undefined;
  }
}

const isDeeper = (value: unknown, levels: number): boolean =>
  levels < 0 || Object.values(value ?? {}).some((member) => typeof member === 'object' && isDeeper(member, levels - 1));

function rpcError(code: number, message: string): Reply {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
  return { status: 400, headers: JSON_TYPE, body };
}
