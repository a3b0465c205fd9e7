import { fileURLToPath } from 'node:url';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Hono } from 'hono';
import { compress } from 'hono/compress';
import { etag } from 'hono/etag';
import { secureHeaders } from 'hono/secure-headers';
import type { Env } from './exchange.ts';

const ASSETS = fileURLToPath(new URL('../../assets', import.meta.url));
const SWAGGER_UI = fileURLToPath(new URL('.', import.meta.resolve('swagger-ui-dist/swagger-ui.css')));

const [SELF, NONE] = ["'self'", "'none'"];

/** Load what the service serves, and call the service. */
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

/**
 * Serves the documentation page: Swagger UI over `openapi.json`. Nothing is loaded from elsewhere. Links are relative, so
 * that a proxy can put the page under a prefix.
 */
export function mountDocs(app: Hono<Env>): void {
  app.get('/', (c) => c.redirect('docs'));
  app.get('/docs/', (c) => c.redirect('../docs'));
  app.use('/docs/*', secureHeaders(POLICY), etag());
  // Not the bundle: compressing it takes a core 65 ms, and anyone can ask for it.
  for (const path of ['/docs', '/docs/docs.js', '/docs/swagger-ui.css']) app.use(path, compress());
  app.get('/docs', serveStatic({ root: ASSETS, path: 'docs.html' }));
  app.get('/docs/docs.js', serveStatic({ root: ASSETS, path: 'docs.js' }));
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    app.get(`/docs/${file}`, serveStatic({ root: SWAGGER_UI, path: file }));
  }
}
