import { expect } from 'vitest';
import { errorLike, test } from './service.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

test.for([
  ['/docs', /^text\/html/, 500],
  ['/docs/docs.js', /^text\/javascript/, 500],
  ['/docs/swagger-ui.css', /^text\/css/, 100_000],
  ['/docs/swagger-ui-bundle.js', /^text\/javascript/, 1_000_000],
] as const)(
  'serves %s to everyone, compressed and revalidated, with a strict policy',
  async ([path, type, atLeast], { service }) => {
    const { status, headers, text } = await service.call('GET', path, { key: null });
    expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(type)]);
    expect(headers['content-security-policy']).toBe(POLICY);
    // As docs/http-interface.md says.
    expect(headers['x-request-id']).toBeUndefined();
    expect(text.length).toBeGreaterThan(atLeast);
    const etag = String(headers['etag']);
    expect((await service.call('GET', path, { key: null, headers: { 'if-none-match': etag } })).status).toBe(304);
    const compressed = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(await compressed.text()).toBe(text);
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    // The strong tag of another representation is another one (RFC 9110, section 8.8.3.3).
    expect(compressed.headers.get('etag')).not.toBe(etag);
    for (const reply of [headers, Object.fromEntries(compressed.headers)]) {
      expect([reply['cache-control'], reply['vary']]).toEqual(['no-cache', 'Accept-Encoding']);
    }
    const ranged = await service.call('GET', path, { key: null, headers: { range: 'bytes=0-1', 'if-range': etag } });
    expect([ranged.status, ranged.text]).toEqual([200, text]);
    const head = await service.call('HEAD', path, { key: null });
    expect([head.status, head.text, head.headers]).toEqual([200, '', { ...headers, date: expect.any(String) }]);
    const rejected = await service.call('POST', path, { key: null, body: '{}' });
    expect(rejected).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  },
);

test('has a page without scripts, styles or addresses of others', async ({ service: { call } }) => {
  const { text } = await call('GET', '/docs', { key: null });
  expect(text).not.toMatch(/<style|<script(?![^>]* src=)|(?:src|href)="(?:https?:)?\//);
});

test.for([
  ['/', 'docs'],
  ['/docs/', '../docs'],
] as const)(
  'redirects %s by a link that works behind the prefix of a proxy',
  async ([path, location], { service: { call } }) => {
    expect(await call('GET', path, { key: null })).toMatchObject({ status: 302, headers: { location } });
  },
);

test.for([
  ...['/docs/x', '/docs//', '/docs/index.html', '/docs/docs.js/', '/docs/swagger-ui-bundle.js.map'],
  ...['/docs/../../etc/passwd', '/docs/..%2f..%2fetc/passwd', '/docs/%2e%2e/%2e%2e/etc/passwd'],
])('responds with 404 to %s', async (path, { service: { call } }) => {
  const { status, json } = await call('GET', path, { key: null });
  expect([status, json]).toEqual([404, errorLike('not_found', 404)]);
});
