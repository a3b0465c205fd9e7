import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { renderProse } from './prose.ts';
import { type Respond, staticContent } from './static-content.ts';

export type { ContentResponse, Respond, StaticContent } from './static-content.ts';
export { staticContent } from './static-content.ts';

/** A path of the documentation, which is open to everyone. */
export interface DocsRoute {
  readonly path: string;
  readonly respond: Respond;
}

const HEADERS = {
  // Load what the service serves, and call the service. React sets inline styles through the object model, without permission.
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
};

const redirect = (path: string, location: string): DocsRoute => ({
  path,
  respond: async () => ({ status: 302, headers: { location }, body: null }),
});

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

/** The folder of the repository, which is at the same place in the container image. */
const MANUALS = new URL('../../../docs/', import.meta.url);

/**
 * The documentation page: Swagger UI over `openapi.json`, the manuals for clients and their examples. Nothing is loaded
 * from elsewhere, and no file is read before the first request. Links are relative, so that a proxy can put them under a prefix.
 */
export function docsPage(): readonly DocsRoute[] {
  const file = (path: string, type: string, locate: () => string | URL): DocsRoute => ({
    path,
    respond: staticContent({ type, headers: HEADERS, read: () => readFile(new URL(locate())) }),
  });
  const manual = (name: string): DocsRoute => ({
    path: `/docs/${name}`,
    respond: staticContent({
      type: HTML,
      headers: HEADERS,
      read: async () => Buffer.from(await renderProse(await readFile(new URL(`${name}.md`, MANUALS), 'utf8'))),
    }),
  });
  return [
    redirect('/', 'docs'),
    redirect('/docs/', '../docs'),
    file('/docs', HTML, () => new URL('../assets/docs.html', import.meta.url)),
    file('/docs/docs.css', CSS, () => new URL('../assets/docs.css', import.meta.url)),
    file('/docs/docs.js', JAVASCRIPT, () => new URL('../assets/docs.js', import.meta.url)),
    file('/docs/swagger-ui.css', CSS, () => import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
    file('/docs/swagger-ui-bundle.js', JAVASCRIPT, () => import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    manual('http-interface'),
    manual('clients'),
    ...readdirSync(new URL('examples/', MANUALS)).map((name) =>
      file(`/docs/examples/${name}`, TEXT, () => new URL(`examples/${name}`, MANUALS)),
    ),
  ];
}
