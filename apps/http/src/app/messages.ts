import { LIMITS } from '@animal-store/domain';
import { quote } from '@animal-store/domain/transport';

/** The largest body that is read, in bytes. */
export const BODY_MAX_BYTES = 64 * 1024;

/** The messages of Error bodies, besides those of the domain. */
export const CLIENT_MESSAGES = {
  badCursor: 'cursor must be one that a Link header of this service gave',
  badTarget:
    'send one Host field that names a host, or host:port; the request target must be a path, or an http URL with a host',
  bodyBeginsWithMark: 'the body must not begin with a byte order mark',
  bodyIsEmpty: 'the body is empty: send a JSON object with name and categoryId',
  bodyIsIncomplete: 'the request ended before its body did',
  bodyIsNotJson: 'the body cannot be read as JSON',
  bodyIsNotUtf8: 'the body must be encoded in UTF-8',
  bodyIsTooLarge: `the body must be at most ${BODY_MAX_BYTES} bytes`,
  contentEncoding: 'send the body without a Content-Encoding',
  contentType: 'send the body as Content-Type: application/json',
  invalidKey: 'invalid API key: send a valid one as Authorization: Bearer <API_KEY>',
  late: 'the request did not arrive in time',
  missingKey: 'missing API key: send a valid one as Authorization: Bearer <API_KEY>',
  originIsForbidden: 'scripts of this origin have no access: the operator can add it to CORS_ORIGINS',
  overloaded: 'the service is overloaded; retry after the time in Retry-After',
  starting: 'the service is starting',
  stopping: 'the service is stopping',
  transferEncoding: 'send the body with no other Transfer-Encoding than chunked',
  unexpected: 'unexpected error in the service; it has been logged under the id of this request',
  allowedMethods: (methods: string) => `allowed methods: ${methods}`,
  headerIsTooLarge: (bytes: number) =>
    `the request target and the header fields must have fewer than ${bytes} bytes in total`,
  malformed: (reason: string) => `malformed HTTP request: ${reason}`,
  noPath: (paths: readonly string[]) =>
    `no such path; a trailing slash makes a different path; there are ${paths.join(', ')}`,
  noPet: (quotedId: string) => `no pet has the id ${quotedId}: ids are integers from 1 to ${LIMITS.id.maxAssigned}`,
  notOnce: (name: string, count: number) => `${name} must be given once, was given ${count} times`,
  /** @param window, wait In seconds. */
  quotaUsedUp: (limit: number, window: number, wait: number) =>
    `this API key's holder may make ${limit} requests in ${window} s: try again in ${wait} s`,
  removed: (basePath: string) => `this endpoint was removed: use GET ${basePath}/pets, which lists animals`,
} as const;

/** Further fields of the line in the log of a preflight whose script gets no access. */
export const rejectedOrigin = (origin: string) => ({
  reason: `a script of ${quote(origin)} asked for access (CORS), which CORS_ORIGINS does not give`,
});
