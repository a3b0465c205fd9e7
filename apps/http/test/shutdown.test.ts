import { Agent, createServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, serviceAt } from './service.ts';
import { listeningAt, type Running, startProcess } from './service-process.ts';

test('told to stop, it is not ready at once, serves for the grace, and asks for connections to be closed', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_GRACE_SECONDS: '2' });
  const { add, call } = serviceAt(await listeningAt(running));
  expect((await call('GET', '/readyz')).status).toBe(200);
  running.process.kill('SIGTERM');
  await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(503);
  expect((await call('GET', '/livez')).status).toBe(200);
  const answer = await call('GET', '/v1/pets', { headers: { connection: 'keep-alive' } });
  expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
  expect((await add({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  expect(await running.exit).toBe(0);
});

test('told to stop, it carries out nothing behind the last answer of a connection', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_GRACE_SECONDS: '1' });
  const { raw, call } = serviceAt(await listeningAt(running));
  running.process.kill('SIGTERM');
  await running.says(/"stopping"/);
  const body = '{"name":"Rex","categoryId":1}';
  const post =
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  expect((await raw(post.repeat(3))).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 201']);
  expect((await call('GET', '/v1/pets')).json).toHaveLength(1);
  expect(await running.exit).toBe(0);
});

test('what is not finished by the deadline is cut, and the process ends with 0', async () => {
  const running = startProcess({ API_KEYS: KEY, STOP_DEADLINE_SECONDS: '1' });
  const port = await listeningAt(running);
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
  });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => {});
  await sleep(200);
  running.process.kill('SIGTERM');
  expect(await running.exit).toBe(0);
  await closed;
});

/** A small proxy: sends each request to a ready instance, in turn, over connections that it keeps. */
async function startProxy(): Promise<{ port: number; instances: Set<number> }> {
  const instances = new Set<number>();
  const ready = new Set<number>();
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let turn = 0;
  const probe = setInterval(() => {
    for (const port of instances) {
      serviceAt(port)
        .call('GET', '/readyz', { key: null })
        .then(
          ({ status }) => (status === 200 ? ready.add(port) : ready.delete(port)),
          () => ready.delete(port),
        );
    }
    for (const port of ready) if (!instances.has(port)) ready.delete(port);
  }, 50);
  const server = createServer((incoming, outgoing) => {
    const ports = [...ready];
    turn += 1;
    const upstream = sendRequest(
      {
        host: '127.0.0.1',
        port: ports[turn % ports.length],
        method: incoming.method,
        path: incoming.url,
        headers: incoming.headers,
        agent,
      },
      (response) => {
        outgoing.writeHead(response.statusCode as number, { 'content-type': 'application/json' });
        response.pipe(outgoing);
      },
    );
    upstream.on('error', (error) => {
      outgoing.writeHead(502);
      outgoing.end(error.message);
    });
    incoming.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    clearInterval(probe);
    agent.destroy();
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, instances };
}

test('two instances behind a proxy are replaced one after the other under load, and not one request is lost', async () => {
  // On a machine that is busy with other things, load must not be shed here: that is another promise.
  const environment = { API_KEYS: KEY, STOP_GRACE_SECONDS: '1', MAX_EVENT_LOOP_DELAY_MS: '0' };
  const start = async (): Promise<{ running: Running; port: number }> => {
    const running = startProcess(environment);
    return { running, port: await listeningAt(running) };
  };
  const proxy = await startProxy();
  const old = [await start(), await start()];
  for (const { port } of old) proxy.instances.add(port);
  await sleep(300);

  const statuses = new Map<number, number>();
  let loading = true;
  const through = serviceAt(proxy.port);
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let turn = 0; loading; turn += 1) {
      const { status } =
        (turn + client) % 2 === 0
          ? await through.call('GET', '/v1/pets')
          : await through.add({ name: 'Rex', categoryId: 1 });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await sleep(3);
    }
  });
  for (const { running, port } of old) {
    const replacement = await start();
    proxy.instances.add(replacement.port);
    await sleep(300);
    running.process.kill('SIGTERM');
    expect(await running.exit).toBe(0);
    proxy.instances.delete(port);
  }
  loading = false;
  await Promise.all(clients);
  expect([...statuses.keys()].sort()).toEqual([200, 201]);
  expect((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0)).toBeGreaterThan(200);
}, 30_000);
