import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, KEY, serviceAt } from './service.ts';
import { MAIN } from './service-process.ts';

/** Opens connections, and returns the open ones: the service may close some. */
async function openConnections(port: number, count: number): Promise<ReadonlySet<Socket>> {
  const open = new Set<Socket>();
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
  });
  const opened = Array.from({ length: count }, async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await Promise.allSettled(opened);
  return open;
}

test('counts and logs connections that the limit of open files does not allow', async () => {
  const port = await freePort();
  const command = `ulimit -n 300; exec '${process.execPath}' --conditions=@animal-store/source '${MAIN}'`;
  const child = spawn('/bin/sh', ['-c', command], {
    env: { PATH: process.env['PATH'] as string, PORT: String(port), API_KEYS: KEY },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await expect.poll(() => output).toMatch(/"listening"/);
  expect(JSON.parse(output.split('\n')[0] as string)).toMatchObject({
    level: 40,
    msg: 'fewer connections than MAX_CONNECTIONS are accepted: raise the limit of open files (ulimit -n)',
    connections: 150,
    openFiles: 300,
  });

  const open = await openConnections(port, 400);
  await expect.poll(() => open.size).toBe(150);
  await expect.poll(() => output).toMatch(/"level":40,.*"msg":"connections are dropped: /);
  for (const socket of open) socket.destroy();
  const { call } = serviceAt(port);
  const dropped = async () => {
    const { text } = await call('GET', '/metrics', { key: null });
    return /^animal_store_connections_dropped_total\{reason="connections"\} (\d+)$/m.exec(text)?.[1];
  };
  await expect.poll(dropped).toBe('250');
});
