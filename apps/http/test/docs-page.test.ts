import { expect, test } from 'vitest';
import { errorLike, startService } from './service.ts';

const FILES = [
  ['/docs', 'text/html; charset=utf-8', 500],
  ['/docs/docs.css', 'text/css; charset=utf-8', 100],
  ['/docs/docs.js', 'text/javascript; charset=utf-8', 1_000],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8', 100_000],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', 1_000_000],
] as const;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

test.each(FILES)('%s is served to everyone, with a strict policy', async (path, type, atLeast) => {
  const service = await startService();
  const answer = await service.call('GET', path, { key: null });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': type,
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    'content-length': String(Buffer.byteLength(answer.text)),
  });
  expect(answer.text.length).toBeGreaterThan(atLeast);

  const head = await service.call('HEAD', path, { key: null });
  const { date: _date, 'x-request-id': _id, ...same } = answer.headers;
  expect(head).toMatchObject({ status: 200, headers: same, text: '' });
});

test.each(FILES)('%s is not sent again to those who have it', async (path) => {
  const service = await startService();
  const { headers } = await service.call('GET', path, { key: null });
  const etag = headers.etag as string;
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  for (const field of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
    const answer = await service.call('GET', path, { key: null, headers: { 'if-none-match': field } });
    // The policy takes the place of the one that was kept (RFC 9111, section 3.2).
    expect(answer).toMatchObject({ status: 304, text: '', headers: { etag, 'content-security-policy': POLICY } });
    expect(answer.headers).not.toHaveProperty('content-type');
  }
  for (const field of ['"another"', etag.slice(1, -1), '']) {
    const answer = await service.call('GET', path, { key: null, headers: { 'if-none-match': field } });
    expect(answer.status).toBe(200);
  }
});

test('the page names nothing but its own files, relative to itself, and has no script or style within it', async () => {
  const service = await startService();
  const { text } = await service.call('GET', '/docs', { key: null });
  const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link as string);
  const files = links.filter((link) => !link.startsWith('data:'));
  expect(files.sort()).toEqual([
    ...FILES.slice(1)
      .map(([path]) => path.slice(1))
      .sort(),
    'openapi.json',
  ]);
  expect(text).not.toMatch(/<style|<script(?! defer src=")|\son\w+=|\sstyle=/);
});

test.each([
  '/docs/',
  '/docs/x',
  '/docs/index.html',
  '/docs/docs.js/',
  '/docs/swagger-ui-bundle.js.map',
  '/docs/../../etc/passwd',
  '/docs/..%2f..%2fetc/passwd',
  '/docs/%2e%2e/%2e%2e/etc/passwd',
  '/docs/../package.json',
  '/docs/__proto__',
  '/Docs',
])('%s is not there', async (path) => {
  const service = await startService();
  const answer = await service.call('GET', path, { key: null });
  expect(answer.status).toBe(404);
  expect(answer.json).toEqual(errorLike('not_found', 404));
});

test.each(FILES)('%s is to be read only', async (path) => {
  const service = await startService();
  const answer = await service.call('POST', path, { key: null, body: '{}' });
  expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  expect(answer.json).toEqual(errorLike('method_not_allowed', 405));
});
