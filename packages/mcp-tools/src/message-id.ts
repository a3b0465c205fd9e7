import { exact, parse, stringify } from '@animal-store/exact-json';

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
  // Most clients take the id of the request. No tool reports progress, so that it never comes back.
  if (isId(params?._meta?.progressToken)) message.params._meta.progressToken = stringify(params._meta.progressToken);
  return message;
}

/** Gives a response the id of its request, as `JSON.stringify` writes it. */
export function restoreId<Response extends { readonly id?: unknown }>(response: Response): Response {
  const id = parse(String(response.id));
  return { ...response, id: typeof id === 'bigint' ? exact(id) : id };
}
