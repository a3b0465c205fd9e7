import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { errorLike, KEY, serviceAt, startService, test } from './service.ts';
import { listeningAt, startProcess } from './service-process.ts';

test('sheds most of many operations while the event loop is delayed, and responds to every probe', async () => {
  const { port, call } = await startService({ MAX_EVENT_LOOP_DELAY_MS: '30' });
  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1').setEncoding('latin1'));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  /** Sends a request on each of so many connections at the same time, and returns the responses that are not successful. */
  const rejectedOf = async (count: number) => {
    const responses = sockets.slice(0, count).map(async (socket) => {
      socket.write(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
      return String(await once(socket, 'data'));
    });
    return (await Promise.all(responses)).filter((response) => !response.startsWith('HTTP/1.1 200 '));
  };
  // The machine may be busy when the service starts.
  await expect.poll(() => rejectedOf(40)).toEqual([]);
  const block = setInterval(() => {
    for (const start = performance.now(); performance.now() - start < 80; );
  }, 5);
  onTestFinished(() => clearInterval(block));
  await expect.poll(async () => (await rejectedOf(40)).length).toBe(27);
  // Clients that wait for late responses send no more. The period of the others ends first.
  await expect.poll(() => rejectedOf(2)).toEqual([]);
  for (let count = 0; count < 5; count += 1) expect(await rejectedOf(2)).toEqual([]);
  const rejected = await rejectedOf(40);
  expect(rejected.length).toBeGreaterThan(10);
  for (const response of rejected) {
    const [head = '', body = ''] = response.split('\r\n\r\n');
    expect(JSON.parse(body)).toEqual(
      errorLike('service_unavailable', 503, /the service is overloaded; retry after the time in Retry-After/),
    );
    expect(head).toMatch(/\r\nRetry-After: [1-9]\d*\r\n/i);
  }
  // A request without a key gets 401: trying again would not help.
  for (const path of ['/v1/pets', '/v1/nothing']) {
    const responses = await Promise.all([1, 2, 3].map(() => call('GET', path, { key: null })));
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401]);
  }
  for (const path of ['/livez', '/readyz', '/metrics'])
    expect((await call('GET', path, { key: null })).status).toBe(200);
  clearInterval(block);
  await expect.poll(() => rejectedOf(40)).toEqual([]);
});

test('responds to every request with success or 503 under overload, and loses no acknowledged pet', {
  timeout: 180_000,
}, async () => {
  const port = await listeningAt(startProcess({ API_KEYS: KEY, MAX_EVENT_LOOP_DELAY_MS: '10' }));
  const { call } = serviceAt(port);
  const body = '{"name":"Rex","categoryId":7,"status":"available"}';
  const fields = `Host: a\r\nAuthorization: Bearer ${KEY}\r\n`;
  const creation = `POST /v1/pets HTTP/1.1\r\n${fields}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const page = `GET /v1/pets HTTP/1.1\r\n${fields}\r\n`;
  // The probe is responded last, and ends every batch with the same bytes.
  const batch = `${(creation + page).repeat(10)}GET /livez HTTP/1.1\r\nHost: a\r\n\r\n`;
  const { text: probed } = await call('GET', '/livez');

  const counts = new Map<string, number>();
  const added: string[] = [];
  const started = performance.now();
  const isOver = () => {
    const lasted = performance.now() - started;
    // On a busy machine the overload begins late.
    return lasted > 30_000 || (lasted > 2_000 && counts.has('503'));
  };
  const client = async () => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    onTestFinished(() => void socket.destroy());
    let received = '';
    const responded = new EventEmitter();
    socket.on('data', (text) => {
      received += text;
      if (received.endsWith(probed)) responded.emit('all');
    });
    while (!isOver()) {
      socket.write(batch);
      await once(responded, 'all');
      const responses = received.split(/(?=HTTP\/1\.1 )/);
      received = '';
      expect(responses).toHaveLength(21);
      for (const response of responses.slice(0, -1)) {
        const status = response.slice(9, 12);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        if (status === '503') expect(response).toMatch(/\r\nRetry-After: [1-9]\d*\r\n/i);
        if (status === '201') added.push(/\r\nLocation: (\S+)\r\n/i.exec(response)?.[1] as string);
      }
    }
  };
  await Promise.all(Array.from({ length: 600 }, client));
  expect([...counts.keys()].sort()).toEqual(['200', '201', '503']);

  const there = new Set<string>();
  for (let next: string | undefined = '/v1/pets?limit=100'; next !== undefined; ) {
    const response = await call('GET', next);
    // The overload may still be ending.
    if (response.status === 503) continue;
    for (const { id } of response.json as { id: number }[]) there.add(`/v1/pets/${id}`);
    next = /<([^>]+)>; rel="next"/.exec(String(response.headers['link']))?.[1];
  }
  expect(added.filter((path) => !there.has(path))).toEqual([]);
});
