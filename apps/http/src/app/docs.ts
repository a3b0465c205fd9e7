import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HeaderFields } from './errors.ts';
import type { Handle, Route } from './route.ts';

/** The files of the page by their paths, and the types of their contents. They are found on use: a bundle does not have them. */
const FILES = {
  '/docs': [() => import.meta.resolve('../../assets/docs.html'), 'text/html'],
  '/docs/docs.css': [() => import.meta.resolve('../../assets/docs.css'), 'text/css'],
  '/docs/docs.js': [() => import.meta.resolve('../../assets/docs.js'), 'text/javascript'],
  '/docs/swagger-ui.css': [() => import.meta.resolve('swagger-ui-dist/swagger-ui.css'), 'text/css'],
  '/docs/swagger-ui-bundle.js': [() => import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'), 'text/javascript'],
} as const;

/** The page loads files of the service and calls the service, nothing else. */
const FIELDS: HeaderFields = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** Reads a file, and compresses it once: the representations that all responses share. */
async function load(find: () => string, type: string) {
  const plain = await readFile(new URL(find()));
  const tag = createHash('sha256').update(plain).digest('base64url');
  const represent = (body: Buffer<ArrayBuffer>, suffix: string, coding: HeaderFields) => ({
    body,
    validators: { 'cache-control': 'no-cache', vary: 'Accept-Encoding', etag: `"${tag}${suffix}"` },
    content: { 'content-type': `${type}; charset=utf-8`, 'content-length': String(body.length), ...coding },
  });
  return {
    plain: represent(plain, '', {}),
    gzip: represent(await promisify(gzip)(plain), '-gzip', { 'content-encoding': 'gzip' }),
  };
}

/** RFC 9110, section 12.5.3. */
const ACCEPTS_GZIP = /(?:^|,)\s*gzip\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:,|$)))/i;

/** RFC 9110, section 13.1.2. */
const matches = (ifNoneMatch: string, etag: string) => ifNoneMatch === '*' || ifNoneMatch.includes(etag);

/**
 * The routes of the documentation page: Swagger UI over `openapi.json`. Nothing is loaded from elsewhere. Links are relative, so
 * that a proxy can put the page under a prefix.
 */
export function docs(): Readonly<Record<string, Route>> {
  const redirect = (location: string) => ({ handle: () => ({ status: 302, headers: { location }, body: null }) });
  const routes: Record<string, Route> = { '/': redirect('docs'), '/docs/': redirect('../docs') };
  for (const [path, [find, type]] of Object.entries(FILES)) {
    let loading: ReturnType<typeof load> | undefined;
    const handle: Handle = async (c) => {
      loading ??= load(find, type).catch((error) => {
        loading = undefined;
        throw error;
      });
      const representations = await loading;
      const isGzip = ACCEPTS_GZIP.test(c.req.header('accept-encoding') ?? '');
      const { body, validators, content } = isGzip ? representations.gzip : representations.plain;
      // Before a response with the body is made: that takes memory for as long as its client reads nothing.
      if (matches(c.req.header('if-none-match') ?? '', validators.etag)) {
        return { status: 304, headers: validators, body: null };
      }
      return { status: 200, headers: { ...validators, ...content }, body };
    };
    routes[path] = { handle, fields: FIELDS };
  }
  return routes;
}
