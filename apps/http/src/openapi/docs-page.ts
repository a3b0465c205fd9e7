import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Context } from 'hono';
import type { Env } from '../http/operation.ts';
import type { Headers, HttpResponse } from '../http/response.ts';

/** A file of the documentation page. */
export interface DocsFile {
  readonly path: string;
  /** Answers with the file, or with 304 where the client has it already. */
  answer(request: Context<Env>): HttpResponse;
}

/**
 * What the page may do: load what the service serves, and call the service. Inline styles need no permission: React sets
 * them through the object model.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/**
 * The documentation page: Swagger UI over `openapi.json`, served from here alone. Its links are relative, so a proxy can
 * put it under a prefix.
 *
 * @throws The system's error where a file is missing: all of them are read now, into memory (2 MB).
 */
export function docsPage(): readonly DocsFile[] {
  return [
    docsFile('/docs', HTML, new URL('../../assets/docs.html', import.meta.url)),
    docsFile('/docs/docs.css', CSS, new URL('../../assets/docs.css', import.meta.url)),
    docsFile('/docs/docs.js', JAVASCRIPT, new URL('../../assets/docs.js', import.meta.url)),
    docsFile('/docs/swagger-ui.css', CSS, import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
    docsFile('/docs/swagger-ui-bundle.js', JAVASCRIPT, import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  ];
}

function docsFile(path: string, type: string, file: string | URL): DocsFile {
  const body = readFileSync(new URL(file));
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const headers: Headers = {
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'referrer-policy': 'no-referrer',
    // Kept, and asked about before each use: the files change with the service.
    'cache-control': 'no-cache',
    etag,
  };
  const whole: HttpResponse = { status: 200, headers: { ...headers, 'content-type': type }, body };
  const known: HttpResponse = { status: 304, headers, body: null };
  return {
    path,
    answer: ({ env }) => (names(env.incoming.headers['if-none-match'], etag) ? known : whole),
  };
}

/** Whether an If-None-Match field (RFC 9110, section 13.1.2) names an entity tag. */
function names(field: string | undefined, etag: string): boolean {
  if (field === undefined) return false;
  return field.trim() === '*' || field.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
