import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import type { Env } from '../src/http/operation.ts';
import { startServer } from '../src/server/server.ts';
import { KEY, serviceAt, startService } from './service.ts';
import { listeningAt, startProcess } from './service-process.ts';

const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const REX = '{"name":"Rex","categoryId":1}';
const BUNDLE = '/docs/swagger-ui-bundle.js';
const TUNNEL = 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n';

const request = (line: string, fields = '', body = '') => `${line} HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`;
const get = (path: string, fields = '') => request(`GET ${path}`, fields);
const post = request('POST /v1/pets', `${AUTHORIZATION}${JSON_TYPE}Content-Length: ${REX.length}\r\n`, REX);
/** How long a probe waits before it counts as failed, in milliseconds: the Deployment's. */
const PROBE_PATIENCE = 5_000;

const LAST = get('/livez', 'Connection: close\r\n');

const statuses = (text: string) => text.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(9))) ?? [];

/** The port of a server of an application. */
async function serverOf(app: Hono<Env>, onDrop: (reason: string) => void = () => {}): Promise<number> {
  const options = { host: '127.0.0.1', port: 0, maxConnections: 50, observers: [], onUnexpectedError() {} };
  const server = await startServer(app, { ...options, onDrop });
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  return server.address.port;
}

/** A server whose every answer takes as long as its path says, in milliseconds. */
async function slowServer(): Promise<number> {
  const app = new Hono<Env>();
  app.get('/:milliseconds', async ({ req, text }) => {
    await sleep(Number(req.param('milliseconds')));
    return text('done');
  });
  return serverOf(app);
}

function open(port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (more) => {
    text += more;
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  return { socket, received: () => text, closed: new Promise<void>((resolve) => socket.on('close', () => resolve())) };
}

/** Those that Node gives until the running test ends. */
function warningsOfTheProcess(): readonly Error[] {
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on('warning', warn);
  onTestFinished(() => void process.off('warning', warn));
  return warnings;
}

test('a client that asks for a tunnel behind answers that it does not read, and is gone, does no harm', async () => {
  const running = startProcess({ API_KEYS: KEY });
  const port = await listeningAt(running);
  const { socket } = open(port);
  socket.pause();
  socket.write(get(BUNDLE).repeat(6) + TUNNEL);
  await sleep(300);
  socket.resetAndDestroy();
  await sleep(300);
  expect(running.output.err).toBe('');
  expect((await serviceAt(port).call('GET', '/livez')).status).toBe(200);
});

test('one that stays does not keep the process from its end', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_DEADLINE_SECONDS: '1' });
  const { socket } = open(await listeningAt(running));
  socket.pause();
  socket.write(get(BUNDLE).repeat(6) + TUNNEL);
  await sleep(300);
  running.process.kill('SIGTERM');
  expect(await Promise.race([running.exit, sleep(4_000, 'still there')])).toBe(0);
});

test('a tunnel behind many answers warns of nothing', async () => {
  const port = await slowServer();
  const warnings = warningsOfTheProcess();
  const { socket, received, closed } = open(port);
  socket.write(get('/50').repeat(20) + TUNNEL);
  await closed;
  expect(statuses(received())).toEqual([...Array(20).fill(200), 400]);
  expect(warnings).toEqual([]);
});

test('told to stop, it lets a client read its answers to their end', async () => {
  const running = startProcess({ API_KEYS: KEY });
  const port = await listeningAt(running);
  const { text } = await serviceAt(port).call('GET', BUNDLE);
  const { socket, received, closed } = open(port);
  socket.pause();
  socket.write(get(BUNDLE).repeat(5));
  await sleep(300);
  running.process.kill('SIGTERM');
  await sleep(300);
  socket.resume();
  await closed;
  expect(received().length).toBeGreaterThan(5 * text.length);
  expect(await running.exit).toBe(0);
});

test('told to stop, it answers all that it has taken on a connection', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_GRACE_SECONDS: '1' });
  const port = await listeningAt(running);
  const { socket, received, closed } = open(port);
  socket.write(post.slice(0, -5));
  await sleep(100);
  running.process.kill('SIGTERM');
  await running.says(/"stopping"/);
  socket.write(post.slice(-5) + post);
  await closed;
  const { json } = await serviceAt(port).call('GET', '/v1/pets');
  expect(statuses(received())).toHaveLength((json as unknown[]).length);
});

test('a client that has closed its side gets the answers to all it has sent', async () => {
  const { socket, received, closed } = open(await slowServer());
  socket.end(get('/100') + get('/50'));
  await closed;
  expect(statuses(received())).toEqual([200, 200]);
});

test.each(['GET /livez', 'HEAD /livez', 'PUT /v1/pets', 'GET /v1/pets'])(
  '%s that waits for a go-ahead and has no body cuts off no answer behind its own',
  async (line) => {
    const { raw } = await startService();
    const received = await raw(request(line, `${AUTHORIZATION}Expect: 100-continue\r\n`) + post + LAST);
    expect(statuses(received)).toEqual([line.startsWith('PUT') ? 405 : 200, 201, 200]);
  },
);

test('an answer is not lost because its body is malformed', async () => {
  const { raw } = await startService();
  const refused = request('POST /v1/pets', `${JSON_TYPE}Transfer-Encoding: chunked\r\n`, 'hello\r\n');
  expect(statuses(await raw(refused))).toEqual([401]);
  expect(statuses(await raw(get('/metrics') + refused))).toEqual([200, 401]);
});

test('nonsense that goes on behind an answer that takes its time is refused once, and warns of nothing', async () => {
  const port = await slowServer();
  const warnings = warningsOfTheProcess();
  const { socket, received, closed } = open(port);
  socket.setNoDelay(true).write(get('/400'));
  for (let count = 0; count < 20; count += 1) {
    await sleep(10);
    socket.write('hello\r\n\r\n');
  }
  await closed;
  expect(statuses(received())).toEqual([200, 400]);
  expect(warnings).toEqual([]);
});

test('the refusal of a HEAD request has no body', async () => {
  const { raw } = serviceAt(await slowServer());
  expect(await raw(request('HEAD /100', 'Transfer-Encoding: chunked\r\n', 'hello\r\n'))).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*\r\n\r\n$/,
  );
});

test.each([
  ['requests', 20, '', get('/v1/pets').repeat(2_000)],
  [
    'bodies of tiny chunks',
    60,
    request('POST /v1/pets', 'Transfer-Encoding: chunked\r\n'),
    '1\r\nx\r\n'.repeat(10_000),
  ],
])(
  'clients that send %s without end keep nobody else waiting',
  async (_what, clients, first, piece) => {
    const port = await listeningAt(startProcess({ LOG_LEVEL: 'error' }));
    const { call } = serviceAt(port);
    let read = 0;
    for (let count = 0; count < clients; count += 1) {
      const socket = connect(port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {});
      socket.on('data', ({ length }) => {
        read += length;
      });
      const write = () => {
        if (socket.writable && socket.write(piece)) setImmediate(write);
      };
      socket.on('drain', write);
      socket.write(first);
      write();
    }
    await expect.poll(() => read).toBeGreaterThan(0);
    await sleep(1_000);
    for (let count = 0; count < 5; count += 1) {
      const started = performance.now();
      expect((await call('GET', '/livez', { key: null })).status).toBe(200);
      expect(performance.now() - started).toBeLessThan(PROBE_PATIENCE);
      await sleep(300);
    }
  },
  20_000,
);

test('clients that read no answers are cut before they keep others from being served', async () => {
  const port = await listeningAt(startProcess({ LOG_LEVEL: 'error', MAX_CONNECTIONS: '2000' }));
  for (let count = 0; count < 40; count += 1) {
    const { socket } = open(port);
    socket.pause();
    socket.write(get(BUNDLE).repeat(132));
  }
  await sleep(500);
  expect((await serviceAt(port).call('GET', '/livez', { key: null })).status).toBe(200);
});

test.each([
  ['POST /v1/pets', AUTHORIZATION],
  ['POST /v1/pets', ''],
  ['GET /livez', ''],
])(
  '%s (%s) whose body is malformed is told and logged as the same when it has to wait for its turn',
  async (line, fields) => {
    const running = startProcess({ API_KEYS: KEY });
    const { socket, received, closed } = open(await listeningAt(running));
    for (let count = 0; count < 32; count += 1) {
      const seen = received().length;
      socket.write(get('/livez'));
      await expect.poll(() => received().length, { interval: 1 }).toBeGreaterThan(seen);
    }
    const before = received().length;
    socket.write(request(line, `${fields}${JSON_TYPE}Transfer-Encoding: chunked\r\n`, 'hello\r\n'));
    await closed;
    const [, id] = /^HTTP\/1\.1 400 [\s\S]*\r\nX-Request-Id: (\S+)\r\n/i.exec(received().slice(before)) ?? [];
    await running.says(new RegExp(`"status":400,.*"requestId":"${id}"`));
    expect(running.output.out.match(/"msg":"request"/g)).toHaveLength(1);
  },
);

test('where they are too many, those with hundreds of unanswered requests are cut, and who has one gets its answer', async () => {
  const app = new Hono<Env>();
  app.get('/', async ({ text }) => {
    await sleep(300);
    return text('done');
  });
  let cut = 0;
  const port = await serverOf(app, (reason) => {
    expect(reason).toBe('requests');
    cut += 1;
  });
  const quiet = open(port);
  const flooding = Array.from({ length: 20 }, () => open(port));
  await sleep(100);
  quiet.socket.write(get('/', 'Connection: close\r\n'));
  for (const { socket } of flooding) socket.write(get('/').repeat(1_500));
  await quiet.closed;
  expect(quiet.received()).toMatch(/^HTTP\/1\.1 200 [\s\S]*done$/);
  expect(cut).toBeGreaterThan(1);
  // There is room again.
  const later = open(port);
  later.socket.write(get('/', 'Connection: close\r\n'));
  await later.closed;
  expect(later.received()).toMatch(/done$/);
});

test('a client that sends many requests without waiting has few of them under way at once, and all are answered in turn', async () => {
  const COUNT = 40_000;
  let underWay = 0;
  let most = 0;
  const app = new Hono<Env>();
  app.get('/:number', async ({ req, text }) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await sleep(50);
    underWay -= 1;
    return text(`no ${req.param('number')};`);
  });
  const { socket, received, closed } = open(await serverOf(app));
  const paths = Array.from({ length: COUNT }, (_, number) => `/${number}`);
  socket.end(paths.map((path) => get(path)).join(''));
  await closed;
  expect(received().match(/(?<=no )\d+(?=;)/g)).toEqual(paths.map((path) => path.slice(1)));
  // What fits into one piece of 64 KiB that is read, beside the hundred.
  expect(most).toBeLessThan(2_500);
});
