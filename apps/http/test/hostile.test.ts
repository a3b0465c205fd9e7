import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEY, OTHER_KEY, openSocket, startService, statusesIn, untilClosed } from './service.ts';

/** How many requests are sent; the environment can ask for more. */
const REQUESTS = Number(process.env['HOSTILE_REQUESTS'] ?? 4_000);
const CONNECTIONS = 16;
/** A connection that is silent for this long hangs, in milliseconds. */
const RESPONSE_TIMEOUT = 20_000;

const words = (text: string) => fc.constantFrom(...text.split(' '));

const oddText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', ' ', '\0', '\\ " \'', '\u202e'),
  words('%00 % %zz ../ ..%2f // {{7*7}} __proto__'),
  fc.constantFrom('a'.repeat(7_000), '9'.repeat(5_000), '%'.repeat(3_000), '[]'.repeat(2_000)),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>, other: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(other) }, { weight: 1, arbitrary });

const method = words('HEAD POST PUT DELETE PATCH OPTIONS TRACE CONNECT PROPFIND QUERY get X');
const path = fc.oneof(
  words('/v1/pets /v1/pets/1 /v1/pets?limit=3 /livez /readyz /openapi.json /v1 / *'),
  // Escaped, oddities get through the parser and meet the application.
  ...['/v1/pets/', '/v1/pets?limit=', '/v1/pets?status=', '/v1/pets?cursor=', '/v1/pets?', '/v1/', '/'].flatMap(
    (start) => [
      oddText.map((text) => start + encodeURIComponent(text.toWellFormed())),
      oddText.map((text) => start + text),
    ],
  ),
  oddText,
);
const names = words(
  'Content-Length Transfer-Encoding Content-Type Expect Connection Upgrade Host Authorization Cookie Idempotency-Key X',
);
const values = words('5 99999999999 -1 chunked gzip,chunked x text/plain 100-continue Upgrade close [::');
const field = fc.oneof(
  fc.tuple(names, fc.oneof(values, oddText)).map((pair) => pair.join(': ')),
  fc.constantFrom('Content-Type: application/json', 'Accept-Encoding: gzip', 'Range: bytes=0-1', 'If-None-Match: *'),
  fc.constantFrom('Idempotency-Key: k', 'X-HTTP-Method-Override: DELETE', 'X-Forwarded-Host: evil.example'),
  oddText,
  // Beyond the limit of the header section.
  fc.constant(`X: ${'a'.repeat(17_000)}`),
);
const body = fc.oneof(
  fc.constantFrom('', '{}', 'null', '[', '{"name":', '"\\ud800"'),
  fc.record({ name: oddText, categoryId: fc.integer() }).map((animal) => JSON.stringify(animal)),
  fc.json({ maxDepth: 4 }),
  oddText,
  fc.constantFrom('['.repeat(60_000), '{"a":'.repeat(12_000), 'x'.repeat(80_000)),
  fc
    .constantFrom('9'.repeat(60_000), `1${'0'.repeat(30)}e-30`, '1e999999999')
    .map((categoryId) => `{"name":"Rex","categoryId":${categoryId}}`),
);

/** Half of the requests are creations, each with up to three odd fields. */
const request = fc
  .record({
    line: fc.oneof(
      fc.constant('POST /v1/pets'),
      fc.tuple(maybe(method, 'GET'), path).map((line) => line.join(' ')),
    ),
    key: maybe(words(`x ${OTHER_KEY}`), KEY),
    fields: fc.oneof(fc.constant([]), fc.array(field, { maxLength: 3 })),
    body: fc.oneof(fc.constant(''), body),
    isHonest: maybe(fc.boolean(), true),
  })
  .map(({ line, key, fields, body, isHonest }) => {
    const bytes = Buffer.from(body);
    const head = [`${line} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${key}`, ...fields];
    if (bytes.length > 0 && isHonest) head.push('Content-Type: application/json', `Content-Length: ${bytes.length}`);
    return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]);
  });

test(`serves valid requests during ${REQUESTS} hostile ones, without a 5xx, a hang or an unexpected error`, async () => {
  const { add, call, port, unexpectedErrors } = await startService();
  const seed = Date.now();
  // Made before the first is sent: this takes seconds, in which a connection would seem to hang. Two at once on average.
  const batches = fc.sample(fc.array(request, { minLength: 1, maxLength: 3 }), { numRuns: REQUESTS / 2, seed });
  const seen = new Set<number>();

  /** Sends requests on one connection, and lets an honest client call before it ends. */
  async function attack(batch: readonly Buffer[]): Promise<void> {
    const socket = openSocket(port);
    const received = untilClosed(socket);
    let failure: string | undefined;
    socket.setTimeout(RESPONSE_TIMEOUT, () => {
      failure = 'a connection hangs';
      socket.destroy();
    });
    socket.write(Buffer.concat(batch));
    expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    expect((await call('GET', '/v1/pets')).status).toBe(200);
    // Node.js closes a connection whose client has closed its side: some of these requests wait for more bytes.
    socket.end();
    for (const status of statusesIn(await received)) {
      seen.add(status);
      if (status >= 500) failure = `status ${status}`;
    }
    expect(failure, `seed ${seed}: ${JSON.stringify(batch.map(String))}`).toBeUndefined();
  }

  const attackers = Array.from({ length: CONNECTIONS }, async () => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) await attack(batch);
  });
  await Promise.all(attackers);
  expect(unexpectedErrors).toEqual([]);
  // The requests got each kind of rejection, and some of them were valid.
  const rare = REQUESTS >= 20_000 ? [413, 415, 431] : [];
  expect([...seen], `seed ${seed}`).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, ...rare]));
});
