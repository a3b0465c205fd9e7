import { describe, expect, test } from 'vitest';
import { errorLike, startService } from './service.ts';

const FILES = [
  ['/docs', 'text/html; charset=utf-8', 500],
  ['/docs/docs.css', 'text/css; charset=utf-8', 100],
  ['/docs/docs.js', 'text/javascript; charset=utf-8', 1_000],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8', 100_000],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', 1_000_000],
  ['/docs/http-interface', 'text/html; charset=utf-8', 1_000],
  ['/docs/clients', 'text/html; charset=utf-8', 1_000],
] as const;

const EXAMPLE = ['/docs/examples/retries.py', 'text/plain; charset=utf-8', 500] as const;

const MANUALS = ['/docs/http-interface', '/docs/clients'] as const;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const POLICY_OF_DATA = "default-src 'none'; frame-ancestors 'none'";

describe.each([
  ...[...FILES, EXAMPLE].map((file) => [...file, POLICY] as const),
  ['/openapi.json', 'application/json', 5_000, POLICY_OF_DATA] as const,
])('%s', (path, type, atLeast, policy) => {
  test('is served to everyone, with a strict policy', async () => {
    const service = await startService();
    const response = await service.call('GET', path, { key: null });
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': type,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
      'content-length': String(Buffer.byteLength(response.text)),
    });
    expect(response.headers).not.toHaveProperty('content-encoding');
    expect(response.text.length).toBeGreaterThan(atLeast);

    const head = await service.call('HEAD', path, { key: null });
    const { date: _date, 'x-request-id': _id, ...same } = response.headers;
    expect(head).toMatchObject({ status: 200, headers: same, text: '' });
  });

  test.each(['br', 'gzip'])('is compressed by %s for clients that accept it', async (coding) => {
    const service = await startService();
    const { text } = await service.call('GET', path, { key: null });
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, { headers: { 'accept-encoding': coding } });
    expect(response.headers.get('content-encoding')).toBe(coding);
    expect(response.headers.get('vary')).toBe('Accept-Encoding, Origin');
    expect(Number(response.headers.get('content-length'))).toBeLessThan(text.length * 0.7);
    expect(await response.text()).toBe(text);
  });

  test('is not sent again to clients that have it', async () => {
    const service = await startService();
    const { headers } = await service.call('GET', path, { key: null });
    const etag = headers.etag as string;
    expect(etag).toMatch(/^"[\w-]{43}\.identity"$/);
    for (const field of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
      const response = await service.call('GET', path, { key: null, headers: { 'if-none-match': field } });
      // The policy takes the place of the one that was kept (RFC 9111, section 3.2).
      expect(response).toMatchObject({ status: 304, text: '', headers: { etag, 'content-security-policy': policy } });
      expect(response.headers).not.toHaveProperty('content-type');
    }
    for (const field of ['"another"', etag.slice(1, -1), '']) {
      const response = await service.call('GET', path, { key: null, headers: { 'if-none-match': field } });
      expect(response.status).toBe(200);
    }
  });

  test('allows GET and HEAD only', async () => {
    const service = await startService();
    const response = await service.call('POST', path, { key: null, body: '{}' });
    expect(response).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    expect(response.json).toEqual(errorLike('method_not_allowed', 405));
  });
});

test.each(FILES.map(([path]) => path))('%s sends no address of the page to others', async (path) => {
  const service = await startService();
  expect((await service.call('GET', path, { key: null })).headers['referrer-policy']).toBe('no-referrer');
});

test.each([
  ['/', 'docs'],
  ['/docs/', '../docs'],
])('%s leads to the page, by a link that works behind the prefix of a proxy', async (path, location) => {
  const service = await startService();
  expect(new URL(location, `http://service/prefix${path}`).pathname).toBe('/prefix/docs');
  for (const method of ['GET', 'HEAD']) {
    const response = await service.call(method, path, { key: null });
    expect(response).toMatchObject({ status: 302, headers: { location }, text: '' });
  }
  expect(await service.call('POST', path, { key: null, body: '{}' })).toMatchObject({ status: 405 });
});

test('with DOCS=off every path but that of the document is 404', async () => {
  const service = await startService({ DOCS: 'off' });
  for (const path of ['/', '/docs/', EXAMPLE[0], ...FILES.map(([path]) => path)]) {
    const response = await service.call('GET', path, { key: null });
    expect(response.json).toEqual(errorLike('not_found', 404));
  }
  expect(await service.call('GET', '/openapi.json', { key: null })).toMatchObject({ status: 200 });
});

test('the page loads its own files only, by relative links, and has no script or style within it', async () => {
  const service = await startService();
  const { text } = await service.call('GET', '/docs', { key: null });
  const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link as string);
  const files = links.filter((link) => !link.startsWith('data:'));
  expect(files.sort()).toEqual([...FILES.map(([path]) => path.slice(1)), 'openapi.json'].sort());
  expect(text).not.toMatch(/<style|<script(?! defer src=")|\son\w+=|\sstyle=/);
});

test.each(MANUALS)('the links of %s lead to pages and headings that are there', async (path) => {
  const service = await startService();
  const { text } = await service.call('GET', path, { key: null });
  const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, link]) => link as string);
  expect(links.length).toBeGreaterThan(3);
  for (const link of links) {
    const target = new URL(link, `http://service${path}`);
    expect(target.host).toBe('service');
    const page = await service.call('GET', target.pathname, { key: null });
    expect([link, page.status]).toEqual([link, 200]);
    if (target.hash !== '') expect(page.text).toContain(`id="${target.hash.slice(1)}"`);
  }
});

test('caches store a response for each origin', async () => {
  const service = await startService({ CORS_ORIGINS: 'https://shop.example' });
  const { headers } = await service.call('GET', '/docs', { key: null, headers: { origin: 'https://shop.example' } });
  expect(headers).toMatchObject({
    'access-control-allow-origin': 'https://shop.example',
    vary: 'Accept-Encoding, Origin',
  });
});

test.each([
  '/docs/x',
  '/docs//',
  '/docs/index.html',
  '/docs/docs.js/',
  '/docs/swagger-ui-bundle.js.map',
  '/docs/operations',
  '/docs/clients.md',
  '/docs/examples',
  '/docs/examples/x.js',
  '/docs/../../etc/passwd',
  '/docs/..%2f..%2fetc/passwd',
  '/docs/%2e%2e/%2e%2e/etc/passwd',
  '/docs/../package.json',
  '/docs/__proto__',
  '/Docs',
])('responds with 404 to %s', async (path) => {
  const service = await startService();
  const response = await service.call('GET', path, { key: null });
  expect(response.status).toBe(404);
  expect(response.json).toEqual(errorLike('not_found', 404));
});
