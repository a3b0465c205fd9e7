import type { Catalogue } from '@animal-store/domain';
import { keyHolder } from './auth.ts';
import { HttpError } from './errors.ts';
import { requireJson } from './json.ts';
import { readBody } from './load-shedding.ts';
import { CLIENT_MESSAGES } from './messages.ts';
import type { Handle } from './route.ts';

export interface McpOptions {
  readonly catalogue: Catalogue;
  /** Origins whose scripts get access; `*` for all. */
  readonly corsOrigins: ReadonlySet<string>;
  readonly version: string;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * `POST /mcp`: the use cases as tools of the Model Context Protocol, over Streamable HTTP without sessions. Errors before the
 * SDK have the Error shape, later ones that of JSON-RPC.
 */
export function mcp({ catalogue, corsOrigins, version }: McpOptions): Handle {
  return async (c, exchange) => {
    const { request, record } = exchange;
    // MCP, Streamable HTTP, security warning: a page could reach a service that listens on this machine (DNS rebinding).
    const origin = request.header('origin');
    if (origin !== undefined && !corsOrigins.has('*') && !corsOrigins.has(origin)) {
      if (!isOwnPage(origin, request.header('host'))) {
        throw new HttpError('forbidden', CLIENT_MESSAGES.originIsForbidden);
      }
    }
    requireJson(request);
    const body = await readBody(exchange);
    const onCall = (tool: string, error: unknown) => {
      record.details = { tool };
      record.error = error;
    };
    // Loaded on use: the SDK takes as long as the rest of a start.
    const { serveHttp } = await import('@animal-store/mcp-tools/http');
    const holder = keyHolder(exchange);
    return serveHttp({ catalogue, holder, version, onCall }, c.req.raw, body);
  };
}

/** Whether a page comes from the service itself, under a name that no other machine can have. */
function isOwnPage(origin: string, host: string | undefined): boolean {
  const [page, service] = [URL.parse(origin), URL.parse(`http://${host}`)];
  return page !== null && page.host === service?.host && LOOPBACK.test(page.hostname);
}
