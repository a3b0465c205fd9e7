import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Hono } from 'hono';
import { etag } from 'hono/etag';
import { secureHeaders } from 'hono/secure-headers';
import type { Env } from './exchange.ts';

/** The files of the page by their paths, and the types of their contents. */
const FILES = {
  '/docs': [import.meta.resolve('../../assets/docs.html'), 'text/html; charset=utf-8'],
  '/docs/docs.js': [import.meta.resolve('../../assets/docs.js'), 'text/javascript; charset=utf-8'],
  '/docs/swagger-ui.css': [import.meta.resolve('swagger-ui-dist/swagger-ui.css'), 'text/css; charset=utf-8'],
  '/docs/swagger-ui-bundle.js': [
    import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
    'text/javascript; charset=utf-8',
  ],
} as const;

const [SELF, NONE] = ["'self'", "'none'"];

/** The page loads files of the service and calls the service, nothing else. */
const POLICY = {
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  contentSecurityPolicy: {
    defaultSrc: [NONE],
    scriptSrc: [SELF],
    styleSrc: [SELF],
    imgSrc: [SELF, 'data:'],
    connectSrc: [SELF],
    baseUri: [NONE],
    formAction: [NONE],
    frameAncestors: [NONE],
  },
};

/** A file in a content coding, as all responses share it. */
interface Representation {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads a file, and compresses it once. */
async function load(file: string, type: string) {
  const bytes = await readFile(new URL(file));
  const digest = createHash('sha256').update(bytes).digest('base64url');
  const represent = (bytes: Representation['bytes'], tag: string, coding = {}): Representation => {
    const length = String(bytes.length);
    const caching = { etag: `"${tag}"`, 'cache-control': 'no-cache', vary: 'Accept-Encoding' };
    return { bytes, headers: { 'content-type': type, 'content-length': length, ...caching, ...coding } };
  };
  return {
    plain: represent(bytes, digest),
    gzip: represent(await promisify(gzip)(bytes), `${digest}-gzip`, { 'content-encoding': 'gzip' }),
  };
}

/** RFC 9110, section 12.5.3. */
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/**
 * Serves the documentation page: Swagger UI over `openapi.json`. Nothing is loaded from elsewhere. Links are relative, so
 * that a proxy can put the page under a prefix.
 */
export function mountDocs(app: Hono<Env>): void {
  app.get('/', (c) => c.redirect('docs'));
  app.get('/docs/', (c) => c.redirect('../docs'));
  app.use('/docs/*', secureHeaders(POLICY), etag());
  for (const [path, [file, type]] of Object.entries(FILES)) {
    let loading: ReturnType<typeof load> | undefined;
    app.get(path, async (c) => {
      loading ??= load(file, type).catch((error) => {
        loading = undefined;
        throw error;
      });
      const representations = await loading;
      const isGzip = ACCEPTS_GZIP.test(c.req.header('accept-encoding') ?? '');
      const { bytes, headers } = isGzip ? representations.gzip : representations.plain;
      return new Response(bytes, { headers });
    });
  }
}
