import { LIMITS } from '@animal-store/domain';

/** The messages of Error bodies, besides those of the domain and of the HTTP server. */
export const CLIENT_MESSAGES = {
  badCursor: 'cursor must be one that a Link header of this service gave',
  bodyBeginsWithMark: 'the body must not begin with a byte order mark',
  bodyIsEmpty: 'the body is empty: send a JSON object with name and categoryId',
  bodyIsNotJson: 'the body cannot be read as JSON',
  bodyIsNotUtf8: 'the body must be encoded in UTF-8',
  contentEncoding: 'send the animal without a Content-Encoding',
  contentType: 'send the animal as Content-Type: application/json',
  invalidKey: 'invalid API key: send a valid one as Authorization: Bearer <API_KEY>',
  missingKey: 'missing API key: send a valid one as Authorization: Bearer <API_KEY>',
  overloaded: 'the service is overloaded; retry after the time in Retry-After',
  stopping: 'the service is stopping',
  transferEncoding: 'send the body with no other Transfer-Encoding than chunked',
  unexpected: 'unexpected error in the service; it has been logged under the id of this request',
  allowedMethods: (methods: string) => `allowed methods: ${methods}`,
  noPath: (paths: readonly string[]) =>
    `no such path; a trailing slash makes a different path; there are ${paths.join(', ')}`,
  noPet: (quotedId: string) => `no pet has the id ${quotedId}: ids are integers from 1 to ${LIMITS.id.max}`,
  notOnce: (name: string, count: number) => `${name} must be given once, was given ${count} times`,
  /** @param window, wait In seconds. */
  quotaUsedUp: (limit: number, window: number, wait: number) =>
    `this API key's holder may make ${limit} requests in ${window} s: try again in ${wait} s`,
  removed: (basePath: string) => `this endpoint was removed: use GET ${basePath}/pets, which lists animals`,
} as const;
