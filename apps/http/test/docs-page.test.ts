import { expect } from 'vitest';
import { errorLike, startService, test } from './service.ts';

// Codings and entity tags are tested in packages/api-docs.

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

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

test.for([...FILES, EXAMPLE])(
  'serves %s to everyone as %s, with a strict policy',
  async ([path, type, atLeast], { shared: { call, port } }) => {
    const { status, headers, text } = await call('GET', path, { key: null });
    expect([status, headers]).toMatchObject([
      200,
      {
        'content-type': type,
        'content-security-policy': POLICY,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
        'content-length': String(Buffer.byteLength(text)),
        'referrer-policy': 'no-referrer',
      },
    ]);
    expect(text.length).toBeGreaterThan(atLeast);

    const { date: _date, 'x-request-id': _id, 'content-length': _length, ...same } = headers;
    expect(await call('HEAD', path, { key: null })).toMatchObject({ status: 200, headers: same, text: '' });

    const compressed = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'accept-encoding': 'br' } });
    expect(compressed.headers.get('content-encoding')).toBe('br');
    expect(await compressed.text()).toBe(text);

    const known = await call('GET', path, { key: null, headers: { 'if-none-match': String(headers.etag) } });
    // The policy takes the place of the one that was kept (RFC 9111, section 3.2).
    expect(known).toMatchObject({ status: 304, text: '', headers: { 'content-security-policy': POLICY } });

    const rejected = await call('POST', path, { key: null, body: '{}' });
    expect(rejected).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  },
);

test.for([
  ['/', 'docs'],
  ['/docs/', '../docs'],
] as const)('redirects %s by a link that works behind the prefix of a proxy', async ([path, location], { shared }) => {
  expect(new URL(location, `http://service/prefix${path}`).pathname).toBe('/prefix/docs');
  for (const method of ['GET', 'HEAD']) {
    expect(await shared.call(method, path, { key: null })).toMatchObject({
      status: 302,
      headers: { location },
      text: '',
    });
  }
});

test('responds with 404 to every path but that of the document if DOCS=off', async () => {
  const { call } = await startService({ DOCS: 'off' });
  for (const path of ['/', '/docs/', EXAMPLE[0], ...FILES.map(([path]) => path)]) {
    expect((await call('GET', path, { key: null })).json).toEqual(errorLike('not_found', 404));
  }
  expect(await call('GET', '/openapi.json', { key: null })).toMatchObject({ status: 200 });
});

test('has a page that loads its own files only, and no script or style within it', async ({ shared: { call } }) => {
  const { text } = await call('GET', '/docs', { key: null });
  const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link as string);
  const files = links.filter((link) => !link.startsWith('data:'));
  expect(files.sort()).toEqual([...FILES.map(([path]) => path.slice(1)), 'openapi.json'].sort());
  expect(text).not.toMatch(/<style|<script(?! defer src=")|\son\w+=|\sstyle=/);
});

test.for(['/docs/http-interface', '/docs/clients'])(
  'has in %s links to pages and headings that are there',
  async (path, { shared: { call } }) => {
    const { text } = await call('GET', path, { key: null });
    const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, link]) => link as string);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      const target = new URL(link, `http://service${path}`);
      expect(target.host).toBe('service');
      const page = await call('GET', target.pathname, { key: null });
      expect([link, page.status]).toEqual([link, 200]);
      if (target.hash !== '') expect(page.text).toContain(`id="${target.hash.slice(1)}"`);
    }
  },
);

test.for([
  ...['/docs/x', '/docs//', '/docs/index.html', '/docs/docs.js/', '/docs/swagger-ui-bundle.js.map', '/docs/operations'],
  ...[
    '/docs/clients.md',
    '/docs/examples',
    '/docs/examples/x.js',
    '/docs/../../etc/passwd',
    '/docs/..%2f..%2fetc/passwd',
  ],
  ...['/docs/%2e%2e/%2e%2e/etc/passwd', '/docs/../package.json', '/docs/__proto__', '/Docs'],
])('responds with 404 to %s', async (path, { shared: { call } }) => {
  expect((await call('GET', path, { key: null })).json).toEqual(errorLike('not_found', 404));
});
