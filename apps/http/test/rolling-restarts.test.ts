import { Agent, createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { RESTART_TIME, RESTARTS, restartUnderLoad, startInstances } from './rolling-restart.ts';
import { serviceAt } from './service.ts';

/** How often the load balancer asks an instance whether it is ready, in milliseconds. */
const PROBE_INTERVAL = 500;

/** A load balancer that repeats nothing: it passes each request to a ready instance, in turn, on connections that it keeps. */
async function startBalancer(instances: readonly number[]): Promise<number> {
  const ready = new Set(instances);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const probing = setInterval(() => {
    for (const port of instances) {
      const isReady = serviceAt(port)
        .call('GET', '/readyz', { key: null })
        .then(
          ({ status }) => status === 200,
          () => false,
        );
      isReady.then((is) => (is ? ready.add(port) : ready.delete(port)));
    }
  }, PROBE_INTERVAL);
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    turn += 1;
    const { method, url: path, headers } = incoming;
    const port = [...ready][turn % ready.size];
    const upstream = sendRequest({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      outgoing.writeHead(response.statusCode as number);
      response.pipe(outgoing);
    });
    upstream.on('error', () => {
      outgoing.writeHead(502);
      outgoing.end();
    });
    incoming.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    clearInterval(probing);
    agent.destroy();
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

test(
  `${RESTARTS} rolling restarts behind a load balancer that repeats nothing fail no request`,
  async () => {
    const instances = await startInstances();
    const balancer = await startBalancer(instances.ports);
    const counts = await restartUnderLoad(instances, balancer);
    expect([...counts.keys()].sort()).toEqual([200, 201]);
    expect((counts.get(200) ?? 0) + (counts.get(201) ?? 0)).toBeGreaterThan(200);
  },
  RESTARTS * RESTART_TIME,
);
