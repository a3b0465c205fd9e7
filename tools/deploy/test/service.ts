import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../../apps/http/src/main.ts', import.meta.url));

/**
 * Starts the service on free ports; it is killed when the running test ends.
 *
 * @returns The origin of its probes.
 */
export async function startService(environment: Record<string, string>): Promise<string> {
  const probePort = environment['PROBE_PORT'] === undefined ? {} : { PROBE_PORT: await freePort() };
  const child = spawn(process.execPath, ['--conditions=@animal-store/source', MAIN], {
    env: { ...environment, ...probePort, STORAGE: 'memory', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await expect.poll(() => output, { timeout: 30_000 }).toContain('"url"');
  const { url, probes } = JSON.parse(output.split('\n')[0] as string);
  return probes ?? new URL(url).origin;
}

/** A port that nobody listens at. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}
