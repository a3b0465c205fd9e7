import { describe, expect } from 'vitest';
import { test } from '../../test/service.ts';

describe('the documentation page', () => {
  const POLICY =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  test.for([
    ['/docs', /^text\/html/, 500],
    ['/docs/docs.css', /^text\/css/, 500],
    ['/docs/docs.js', /^text\/javascript/, 500],
    ['/docs/swagger-ui.css', /^text\/css/, 100_000],
    ['/docs/swagger-ui-bundle.js', /^text\/javascript/, 1_000_000],
  ] as const)('has %s for everyone, compressed and revalidated', async ([path, type, atLeast], { app }) => {
    const get = (headers = {}) => app.call('GET', path, { key: null, headers });
    const { status, headers, text } = await get();
    expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(type)]);
    expect(headers['content-security-policy']).toBe(POLICY);
    expect(headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    expect(text.length).toBeGreaterThan(atLeast);
    const etag = String(headers['etag']);
    expect((await get({ 'if-none-match': etag })).status).toBe(304);
    expect(await get({ range: 'bytes=0-1', 'if-range': etag })).toMatchObject({ status: 200, text });
    const gzip = await get({ 'accept-encoding': 'gzip' });
    expect(gzip).toMatchObject({ text, headers: { 'content-encoding': 'gzip' } });
    expect(Number(gzip.headers['content-length'])).toBeLessThan(text.length);
    // The strong tag of another representation is another one (RFC 9110, section 8.8.3.3).
    expect(gzip.headers['etag']).not.toBe(etag);
    for (const fields of [headers, gzip.headers]) {
      expect(fields).toMatchObject({ 'cache-control': 'no-cache', vary: 'Accept-Encoding' });
    }
    const { 'x-request-id': _, ...same } = headers;
    expect(await app.call('HEAD', path, { key: null })).toMatchObject({ status: 200, text: '', headers: same });
    const rejected = await app.call('POST', path, { key: null, body: '{}' });
    expect(rejected).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  test.for([
    ['br, GZIP;q=0.5', 'gzip'],
    ['gzip; q=0.0, br', undefined],
    ['gzip-9', undefined],
  ])('has for Accept-Encoding: %s the content coding %s', async ([accepted = '', coding], { app: { call } }) => {
    const { headers } = await call('GET', '/docs', { key: null, headers: { 'accept-encoding': accepted } });
    expect(headers['content-encoding']).toBe(coding);
  });

  test('has no scripts or styles in the page, and no addresses of others', async ({ app: { call } }) => {
    const { text } = await call('GET', '/docs', { key: null });
    expect(text).not.toMatch(/<style|<script(?![^>]* src=)|(?:src|href)="(?:https?:)?\//);
  });

  test.for([
    ['/', 'docs'],
    ['/docs/', '../docs'],
  ] as const)('is linked from %s so that it works behind the prefix of a proxy', async ([path, location], { app }) => {
    expect(await app.call('GET', path, { key: null })).toMatchObject({ status: 302, headers: { location } });
  });
});
