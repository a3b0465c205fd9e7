import type { AuthenticatedKey } from '@animal-store/domain/transport';
import type { HeaderFields } from './errors.ts';
import type { RequestHead } from './incoming-request.ts';

/** One request and its response, for the log and the metrics. */
export interface RequestRecord {
  /** The X-Request-Id of the request if it is well-formed, otherwise a new UUID; returned with the response. */
  readonly id: string;
  readonly method: string;
  /** The path of the route with the names of its parameters, or a constant below: one of few, whatever a client sends. */
  route: string;
  /** The trace id of the request's traceparent (W3C Trace Context, level 2), or null. */
  readonly traceId: string | null;
  /** On the monotonic clock of `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  /** Until the response, in milliseconds. */
  duration: number;
  /** The address of the client, one of IPv4 without the prefix of IPv6; null if it is unknown. */
  readonly client: string | null;
  /** The key of the request, if it is valid. */
  key: AuthenticatedKey | null;
  /** The error that became the response; undefined if there was none. */
  error: unknown;
  /** Further fields of the line in the log. */
  details: HeaderFields | undefined;
  /** Of the response. */
  status: number;
  /** Of the body of the response; of that of GET for HEAD. */
  bytes: number;
}

/** The route of requests that match none. */
export const UNMATCHED = 'unmatched';
/** The route of bytes that are no request. */
const UNPARSABLE = 'unparsable';

/** Is notified of a request and its response. */
export type Observe = (record: Readonly<RequestRecord>) => void;

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/i;
/** Version 00 has exactly 55 characters, later ones may have more. */
const TRACEPARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;
/** An IPv4 address, with or without a port, or one of IPv6, without a port or in brackets (RFC 7239, section 6). */
const ENTRY = /^(?:(\d+(?:\.\d+){3})(?::\d+)?|\[?([\da-f:]+(?:\.\d+){0,3})(?:\](?::\d+)?)?)$/i;

/**
 * Begins the record of a request. Guards and handlers set the rest before observers get it.
 *
 * @param trustedProxies How many proxies add an address to X-Forwarded-For.
 */
export function beginRecord(request: RequestHead, trustedProxies: number): RequestRecord {
  const id = request.header('x-request-id');
  const traceparent = request.header('traceparent');
  const forwarded = trustedProxies > 0 ? request.header('x-forwarded-for') : undefined;
  const client =
    (forwarded === undefined ? null : forwardedAddress(forwarded, trustedProxies)) ?? request.clientAddress;
  return {
    id: id !== undefined && REQUEST_ID.test(id) ? id : crypto.randomUUID(),
    method: request.method ?? '-',
    route: request.method === undefined ? UNPARSABLE : UNMATCHED,
    traceId: traceparent === undefined ? null : (TRACEPARENT.exec(traceparent)?.[1] ?? null),
    startedAt: performance.now(),
    duration: 0,
    client: client?.replace(IPV4_IN_IPV6, '') ?? null,
    key: null,
    error: undefined,
    details: undefined,
    status: 0,
    bytes: 0,
  };
}

/**
 * The address of the client behind proxies: the entry of X-Forwarded-For that the outermost of them wrote. The entries before it
 * come from the client and may be forged.
 *
 * @param proxies How many there are, 1 or more.
 * @returns null if the entry is no address.
 */
export function forwardedAddress(field: string, proxies: number): string | null {
  const [, ipv4, ipv6] = ENTRY.exec(field.split(',').at(-proxies)?.trim() ?? '') ?? [];
  const address = ipv4 ?? ipv6;
  return address !== undefined && URL.canParse(`http://${ipv4 ?? `[${ipv6}]`}`) ? address : null;
}
