import { exact, parse, stringify } from '@animal-store/exact-json';
import { isJSONRPCRequest, type JSONRPCErrorResponse, METHOD_NOT_FOUND } from '@modelcontextprotocol/server';

const isId = (value: unknown): boolean => ['string', 'number', 'bigint'].includes(typeof value);

/**
 * Parses a message, with the JSON text of an id in place of the id: the SDK rejects integers beyond 2^53, which JSON.parse
 * rounds.
 *
 * @throws SyntaxError
 */
export function parseMessage(text: string): unknown {
  const message = JSON.parse(text);
  const { id, params } = Object(parse(text));
  if (isId(id)) message.id = stringify(id);
  // Of notifications/cancelled.
  if (isId(params?.requestId)) message.params.requestId = stringify(params.requestId);
  return message;
}

/** Gives a response the id of its request, as `JSON.stringify` writes it. */
export function restoreId<Response extends { readonly id?: unknown }>(response: Response): Response {
  const id = parse(String(response.id));
  return { ...response, id: typeof id === 'bigint' ? exact(id) : id };
}

/**
 * The response to a request for notifications (MCP 2026-07-28), or null for every other message. The SDK itself would say that
 * too many are subscribed to: this server sends none.
 */
export function rejectSubscription(message: unknown): JSONRPCErrorResponse | null {
  if (!isJSONRPCRequest(message) || message.method !== 'subscriptions/listen') return null;
  return { jsonrpc: '2.0', id: message.id, error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}
