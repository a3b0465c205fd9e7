import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { once } from '@animal-store/async';

type Headers = Readonly<Record<string, string>>;

/** The content codings of responses (RFC 9110, section 8.4.1), the smallest first; `identity` is none. */
const CODINGS = ['br', 'gzip', 'identity'] as const;
type Coding = (typeof CODINGS)[number];

/** The response to a GET request. */
export interface ContentResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array | null;
}

/** Responds to a GET request with these header fields. */
export type Respond = (headers: IncomingHttpHeaders) => Promise<ContentResponse>;

/** Content that stays the same while the process runs. */
export interface StaticContent {
  readonly type: string;
  /** Called for the first request. */
  read(): Promise<Uint8Array>;
  /** Header fields of every response. */
  readonly headers: Headers;
}

/** Compresses on threads of libuv. A megabyte takes a tenth of a second; higher qualities take seconds to save another tenth. */
const COMPRESS: Readonly<Record<Exclude<Coding, 'identity'>, (body: Uint8Array) => Promise<Uint8Array>>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: promisify<Uint8Array, Uint8Array>(gzip),
};

/**
 * Responds with content in the coding that the client prefers, or with 304 if the client has it. Content is read, and
 * compressed by each coding, for the first request that needs it, and kept in memory from then on.
 */
export function staticContent({ type, read, headers }: StaticContent): Respond {
  const original = once(async () => {
    const body = await read();
    return { body, digest: createHash('sha256').update(body).digest('base64url') };
  });
  const compressed = (coding: keyof typeof COMPRESS) => once(async () => COMPRESS[coding]((await original()).body));
  const bodies = { br: compressed('br'), gzip: compressed('gzip'), identity: async () => (await original()).body };

  return async ({ 'accept-encoding': accepted, 'if-none-match': known }) => {
    const coding = preferredCoding(accepted as string | undefined);
    // Each coding has an entity tag of its own (RFC 9110, section 8.8.3.3).
    const etag = `"${(await original()).digest}.${coding}"`;
    const common: Headers = {
      ...headers,
      // Clients revalidate the content before each use, because it changes with the service.
      'cache-control': 'no-cache',
      // The header fields of CORS depend on the origin.
      vary: 'Accept-Encoding, Origin',
      etag,
    };
    if (names(known, etag)) return { status: 304, headers: common, body: null };
    const encoding: Headers = coding === 'identity' ? {} : { 'content-encoding': coding };
    return { status: 200, headers: { ...common, ...encoding, 'content-type': type }, body: await bodies[coding]() };
  };
}

/** Whether an If-None-Match field (RFC 9110, section 13.1.2) names an entity tag. */
function names(field: string | undefined, etag: string): boolean {
  if (field === undefined) return false;
  return field.trim() === '*' || field.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

const ENTRY = /^[\t ]*([^\t ;]+)[\t ]*(?:;[\t ]*q=([\d.]+)[\t ]*)?$/i;

/**
 * The coding that a client prefers (RFC 9110, section 12.5.3), of several the smallest.
 *
 * @param field Accept-Encoding. Without it, or if it names none of them, the result is `identity`.
 */
function preferredCoding(field = ''): Coding {
  const weights = new Map<string, number>();
  for (const entry of field.split(',')) {
    const [, coding = '', weight = '1'] = ENTRY.exec(entry) ?? [];
    weights.set(coding.toLowerCase(), Number(weight));
  }
  let preferred: Coding = 'identity';
  let highest = 0;
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > highest) [preferred, highest] = [coding, weight];
  }
  return preferred;
}
