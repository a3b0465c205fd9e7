import { describe, expect } from 'vitest';
import { type App, type Call, startApp, startService, test } from './service.ts';

const ORIGIN = 'https://pages.example';
const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** All requests whose responses have no body, by their status. HEAD has the type of the body that GET would have. */
const REQUESTS: readonly (readonly [number, string, string, Call])[] = [
  [202, 'POST', '/mcp', { headers: { 'content-type': 'application/json' }, body: NOTIFICATION }],
  [302, 'GET', '/', { key: null }],
  [302, 'GET', '/docs/', { key: null }],
  [304, 'GET', '/docs', { key: null, headers: { 'if-none-match': '*' } }],
  [304, 'GET', '/docs/swagger-ui.css', { key: null, headers: { 'if-none-match': '*' } }],
];

const PREFLIGHT = { 'access-control-request-method': 'POST' };
const CROSS_ORIGIN: typeof REQUESTS = [
  ...REQUESTS.map(([status, method, path, { headers, ...call }]) => {
    return [status, method, path, { ...call, headers: { ...headers, origin: ORIGIN } }] as const;
  }),
  [204, 'OPTIONS', '/v1/pets', { key: null, headers: { ...PREFLIGHT, origin: ORIGIN } }],
  [204, 'OPTIONS', '/mcp', { key: null, headers: { ...PREFLIGHT, origin: ORIGIN } }],
];

const CORS = { CORS_ORIGINS: ORIGIN };

// The Java SDK of MCP rejects a 202 with a type that it does not know.
describe('a response without a body has no Content-Type', () => {
  test.for<[string, () => App | Promise<App>, typeof REQUESTS]>([
    ['as an application', startApp, REQUESTS],
    ['as an application, for pages of other origins', () => startApp(CORS), CROSS_ORIGIN],
    ['over a socket', startService, REQUESTS],
    ['over a socket, for pages of other origins', () => startService(CORS), CROSS_ORIGIN],
  ])('%s', async ([, start, requests]) => {
    const app = await start();
    for (const [status, method, path, call] of requests) {
      const reply = await app.call(method, path, call);
      const { 'content-type': type, 'content-length': length = '0' } = reply.headers;
      expect([reply.status, reply.text, type, length], `${method} ${path}`).toEqual([status, '', undefined, '0']);
    }
  });
});
