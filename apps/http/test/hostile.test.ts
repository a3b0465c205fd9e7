import { type AddressInfo, connect, type Socket } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEY, OTHER_KEY, type Service, startService } from './service.ts';

/** How many requests are sent; the environment can ask for more. */
const REQUESTS = Number(process.env['HOSTILE_REQUESTS'] ?? 20_000);
const CONNECTIONS = 16;
/** A connection that is silent for this long hangs, in milliseconds. */
const RESPONSE_TIMEOUT = 20_000;

const oddText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '%00',
    '%',
    '%zz',
    '../',
    '..%2f',
    '//',
    '\\',
    '"',
    "'",
    '{{7*7}}',
    '__proto__',
    '\u202e',
  ),
  fc.constantFrom('a'.repeat(7_000), '9'.repeat(5_000), '%'.repeat(3_000), '[]'.repeat(2_000)),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>, other: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(other) }, { weight: 1, arbitrary });

const method = maybe(
  fc.constantFrom(...'HEAD POST PUT DELETE PATCH OPTIONS TRACE CONNECT PROPFIND QUERY get X'.split(' '), ''),
  'GET',
);
const path = fc.oneof(
  fc.constantFrom('/v1/pets', '/v1/pets/1', '/v1/pets?limit=3', '/livez', '/readyz', '/openapi.json', '/v1', '/', '*'),
  // Escaped, oddities get through the parser and meet the application.
  ...['/v1/pets/', '/v1/pets?limit=', '/v1/pets?status=', '/v1/pets?cursor=', '/v1/pets?', '/v1/', '/'].map((start) =>
    oddText.map((text) => start + encodeURIComponent(text.toWellFormed())),
  ),
  oddText.map((text) => `/v1/pets/${text}`),
  oddText.map((text) => `/v1/pets?limit=${text}`),
  oddText.map((text) => `/v1/pets?cursor=${text}&status=${text}`),
  oddText.map((text) => `/${text}`),
  oddText,
);
const field = fc.oneof(
  fc.constantFrom(
    'Content-Type: application/json',
    'Content-Type: text/plain',
    'Content-Length: 5',
    'Content-Length: 99999999999',
    'Content-Length: -1',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: x',
    'Expect: 100-continue',
    'Expect: x',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Connection: close',
    'Host: a b',
    'Host: [::',
    'Idempotency-Key: k',
    'Idempotency-Key: a b',
    'Accept-Encoding: gzip',
    'Range: bytes=0-1',
    'If-None-Match: *',
    'X-HTTP-Method-Override: DELETE',
    'X-Forwarded-Host: evil.example',
  ),
  fc
    .tuple(fc.constantFrom('Authorization', 'Content-Type', 'Cookie', 'X'), oddText)
    .map(([name, value]) => `${name}: ${value}`),
  oddText,
);
const body = fc.oneof(
  fc.constantFrom('', '{}', 'null', '[', '{"name":', '"\\ud800"'),
  fc.record({ name: oddText, categoryId: fc.integer() }).map((animal) => JSON.stringify(animal)),
  fc.json({ maxDepth: 4 }),
  oddText,
  fc.constantFrom('['.repeat(60_000), '{"a":'.repeat(12_000), `{"name":"Rex","categoryId":${'9'.repeat(60_000)}}`),
  fc.constantFrom(
    `{"name":"Rex","categoryId":1${'0'.repeat(30)}e-30}`,
    '{"name":"Rex","categoryId":1e999999999}',
    'x'.repeat(80_000),
  ),
);

const wild = fc.record({
  method,
  path,
  key: maybe(fc.constantFrom('x', '', OTHER_KEY), KEY),
  fields: fc.array(field, { maxLength: 3 }),
  body: fc.option(body, { nil: '', freq: 2 }),
  honest: maybe(fc.boolean(), true),
});

/** A request whose body alone is odd. */
const creation = fc.record({
  method: fc.constant('POST'),
  path: fc.constant('/v1/pets'),
  key: fc.constant(KEY),
  fields: fc.constant([]),
  body,
  honest: fc.constant(true),
});

const request = fc
  .oneof({ weight: 2, arbitrary: wild }, { weight: 1, arbitrary: creation })
  .map(({ method, path, key, fields, body, honest }) => {
    const bytes = Buffer.from(body);
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${key}`, ...fields];
    if (bytes.length > 0 && honest) lines.push('Content-Type: application/json', `Content-Length: ${bytes.length}`);
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
  });

/** Sends requests on one connection and gives up on it when it is closed, or has been sent to and is silent for a while. */
function exchange(port: AddressInfo['port'], requests: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket: Socket = connect(port, '127.0.0.1', () => socket.end(Buffer.concat(requests)));
    socket.setTimeout(RESPONSE_TIMEOUT, () => {
      socket.destroy();
      reject(
        new Error(
          `no end of the response to ${requests.map((bytes) => JSON.stringify(bytes.toString('latin1').slice(0, 300))).join('\n')}`,
        ),
      );
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server may reset a connection that it stops reading.
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

/** The packets of one connection, two requests at once on average. */
function hostileRequests(count: number, seed: number): readonly (readonly Buffer[])[] {
  return fc.sample(fc.array(request, { minLength: 1, maxLength: 3 }), { numRuns: Math.ceil(count / 2), seed });
}

async function attack({ port }: Service, requests: readonly (readonly Buffer[])[]): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  for (const batch of requests) {
    const text = await exchange(port, batch);
    for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      statuses.set(status as string, (statuses.get(status as string) ?? 0) + 1);
      if (Number(status) >= 500) {
        throw new Error(
          `${status} for ${batch.map((bytes) => JSON.stringify(bytes.toString('latin1').slice(0, 500))).join('\n')}`,
        );
      }
    }
  }
  return statuses;
}

test(`serves valid requests during ${REQUESTS} hostile ones, without a 5xx, a hang or an unexpected error`, async () => {
  const service = await startService();
  const seed = Date.now();
  // Made before the first is sent: this takes seconds, in which a connection would seem to hang.
  const requests = Array.from({ length: CONNECTIONS }, (_, index) =>
    hostileRequests(REQUESTS / CONNECTIONS, seed + index),
  );
  const counts = new Map<string, number>();
  let done = false;
  const goodOnes = (async () => {
    let served = 0;
    for (; !done; served += 1) expect((await service.call('GET', '/v1/pets')).status).toBe(200);
    return served;
  })();
  const attacks = requests.map((batches) => attack(service, batches));
  try {
    for (const statuses of await Promise.all(attacks)) {
      for (const [status, count] of statuses) counts.set(status, (counts.get(status) ?? 0) + count);
    }
  } catch (error) {
    throw new Error(`seed ${seed}`, { cause: error });
  } finally {
    done = true;
  }
  expect(await goodOnes).toBeGreaterThan(0);
  expect(service.unexpectedErrors).toEqual([]);
  // The requests got each kind of rejection, and some of them were valid.
  const rare = REQUESTS >= 20_000 ? ['413', '415', '431'] : [];
  for (const status of ['200', '201', '400', '401', '404', '405', ...rare]) {
    expect([status, counts.get(status) ?? 0]).not.toEqual([status, 0]);
  }
}, 600_000);
