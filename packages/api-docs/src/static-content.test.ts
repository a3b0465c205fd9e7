import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type ContentResponse, staticContent } from './static-content.ts';

const TEXT = 'Rex '.repeat(1_000);

/** The content, and a count of how often it was read. The first `failures` times it can't be. */
function content(failures = 0) {
  let reads = 0;
  const respond = staticContent({
    type: 'text/plain',
    headers: { 'referrer-policy': 'no-referrer' },
    read: async () => {
      reads += 1;
      if (reads <= failures) throw new Error('EMFILE');
      return Buffer.from(TEXT);
    },
  });
  const get = (headers: Record<string, string> = {}) => respond(headers);
  return { get, reads: () => reads };
}

const textOf = ({ body, headers }: ContentResponse) => {
  const bytes = body as Uint8Array;
  const coding = headers['content-encoding'];
  if (coding === 'br') return brotliDecompressSync(bytes).toString();
  return coding === 'gzip' ? gunzipSync(bytes).toString() : Buffer.from(bytes).toString();
};

describe('staticContent', () => {
  test.each([
    // The fields of browsers and clients.
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['*', 'br'],
    // Weights.
    ['br;q=0.5, gzip', 'gzip'],
    ['identity, br;q=0.9', 'identity'],
    ['identity;q=0.5, br;q=0.9', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    [' GZIP ; Q=0.8 ,deflate', 'gzip'],
    // None that the service has.
    [undefined, 'identity'],
    ['identity', 'identity'],
    ['deflate', 'identity'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['*;q=0', 'identity'],
    // Malformed.
    ['br;q=x', 'identity'],
    ['br gzip', 'identity'],
    ['br;q=..', 'identity'],
    [',;,br', 'br'],
  ])('for Accept-Encoding: %s has the content coding %s', async (accepted, coding) => {
    const response = await content().get(accepted === undefined ? {} : { 'accept-encoding': accepted });
    expect(response.headers['content-encoding'] ?? 'identity').toBe(coding);
    expect(response.headers).toMatchObject({ 'content-type': 'text/plain', 'referrer-policy': 'no-referrer' });
    expect(textOf(response)).toBe(TEXT);
    if (coding !== 'identity') expect((response.body as Uint8Array).length).toBeLessThan(TEXT.length / 10);
  });

  test('gives each coding an entity tag of its own, and sends Vary', async () => {
    const { get } = content();
    const responses = [await get(), await get({ 'accept-encoding': 'br' }), await get({ 'accept-encoding': 'gzip' })];
    expect(new Set(responses.map(({ headers }) => headers['etag'])).size).toBe(3);
    for (const { headers } of responses) {
      expect(headers).toMatchObject({ vary: 'Accept-Encoding, Origin', 'cache-control': 'no-cache' });
    }
  });

  test('is 304 for the entity tag of the coding that the client would get', async () => {
    const { get } = content();
    const { etag } = (await get({ 'accept-encoding': 'br' })).headers as { etag: string };
    const known = await get({ 'accept-encoding': 'br', 'if-none-match': etag });
    expect(known).toMatchObject({ status: 304, body: null, headers: { etag, vary: 'Accept-Encoding, Origin' } });
    expect(await get({ 'accept-encoding': 'gzip', 'if-none-match': etag })).toMatchObject({ status: 200 });
  });

  test('is read once, for the first request, and compressed once for each coding', async () => {
    const { get, reads } = content();
    expect(reads()).toBe(0);
    await Promise.all([get(), get({ 'accept-encoding': 'gzip' }), get()]);
    const [first, second] = [await get({ 'accept-encoding': 'br' }), await get({ 'accept-encoding': 'br' })];
    expect(second.body).toBe(first.body);
    expect(reads()).toBe(1);
  });

  test('is read again if it could not be read', async () => {
    const { get } = content(1);
    await expect(get()).rejects.toThrow('EMFILE');
    expect(textOf(await get())).toBe(TEXT);
  });
});
