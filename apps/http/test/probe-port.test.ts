import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errorLike, freePort, KEY, serviceAt } from './service.ts';
import { keepConnecting, listeningAt, startProcess } from './service-process.ts';

const PROBES = ['/livez', '/readyz', '/healthz', '/metrics'];

/** A process with a port for the probes. */
async function startWithProbePort(environment: Record<string, string> = {}) {
  const probePort = await freePort();
  const running = startProcess({ API_KEYS: KEY, PROBE_PORT: String(probePort), ...environment });
  const port = await listeningAt(running);
  return { running, port, probePort, main: serviceAt(port), probes: serviceAt(probePort) };
}

/** Opens a connection, and keeps it until the test ends. */
function open(port: number, bytes = ''): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => resolve()));
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
  });
}

describe('PROBE_PORT', () => {
  test('moves the probes and the metrics, and nothing else, to a port of their own', async () => {
    const { running, probePort, main, probes } = await startWithProbePort();
    expect(JSON.parse(running.output.out)).toMatchObject({ probes: `http://127.0.0.1:${probePort}` });
    for (const path of PROBES) {
      expect((await probes.call('GET', path, { key: null })).status, path).toBe(200);
      const moved = await main.call('GET', path, { key: null });
      expect([moved.status, moved.json], path).toEqual([404, errorLike('not_found', 404)]);
    }
    expect((await main.call('GET', '/v1/pets')).status).toBe(200);
    for (const path of ['/v1/pets', '/openapi.json', '/docs']) {
      const { status, json } = await probes.call('GET', path);
      const message = /^no such path; .*; there are \/livez, \/readyz, \/healthz, \/metrics$/;
      expect([status, json], path).toEqual([404, errorLike('not_found', 404, message)]);
    }
    const { status, headers } = await probes.call('POST', '/livez');
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);

    const other = startProcess({ API_KEYS: KEY, PROBE_PORT: String(probePort) });
    expect(await other.exit).toBe(2);
    expect(other.output.err).toBe(
      `animal-store: can't listen at 127.0.0.1, port ${probePort}: it is in use; choose another PROBE_PORT\n`,
    );
  });

  test('keeps probes in time while clients hold twice MAX_CONNECTIONS idle connections', async () => {
    const { port, main, probes } = await startWithProbePort({ MAX_CONNECTIONS: '100' });
    await Promise.all(Array.from({ length: 200 }, () => open(port)));
    await expect(main.call('GET', '/v1/pets')).rejects.toThrow();
    for (const path of PROBES) {
      const durations: number[] = [];
      for (let count = 0; count < 3; count += 1) {
        const started = performance.now();
        expect((await probes.call('GET', path)).status, path).toBe(200);
        durations.push(performance.now() - started);
      }
      // The machine may stall during one of the three.
      expect(Math.min(...durations), path).toBeLessThan(1_000);
    }
  });

  test('responds to probes until the other port is closed and the last request has its response', async () => {
    const { running, port, main, probes } = await startWithProbePort({ STOP_GRACE_SECONDS: '5' });
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
    const body = '{"name":"Rex","categoryId":1}';
    const socket = connect(port, '127.0.0.1');
    const slow = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n`);
    // Its connection is accepted after that of the slow request.
    expect((await main.call('GET', '/v1/pets')).status).toBe(200);
    const endConnecting = keepConnecting(port);
    running.process.kill('SIGTERM');
    const expectNotReady = async () => {
      const { status, json } = await probes.call('GET', '/readyz');
      expect([status, json]).toEqual([503, errorLike('service_unavailable', 503, /^the service is stopping$/)]);
      expect((await probes.call('GET', '/livez')).status).toBe(200);
    };
    await running.says(/"stopping"/);
    await expectNotReady();
    expect((await main.call('GET', '/v1/pets')).status).toBe(200);
    endConnecting();
    const failureCode = () => main.call('GET', '/v1/pets').then(String, (error: NodeJS.ErrnoException) => error.code);
    await expect.poll(failureCode).toBe('ECONNREFUSED');
    await expectNotReady();
    socket.write(body);
    expect(await slow).toMatch(/^HTTP\/1\.1 201 /);
    expect(await running.exit).toBe(0);
    expect(running.output.err).toBe('');
  });
});
