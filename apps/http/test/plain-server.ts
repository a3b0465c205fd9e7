// The application on Node's server and @hono/node-server as they are: what attacks do without the defences of src/server.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { getRequestListener } from '@hono/node-server';
import { compose, TOKENS } from '../src/composition.ts';
import { readConfiguration } from '../src/configuration.ts';
import { createLog } from '../src/observability/log.ts';

const parts = {
  configuration: readConfiguration(process.env),
  version: { version: '1.2.3' },
  storage: createMemoryStorage(),
  log: createLog('silent', { write() {} }),
  droppedLines: () => 0,
  phase: () => 'serving' as const,
  clock: Date.now,
};
const server = createServer(getRequestListener(compose(parts).resolve(TOKENS.app).fetch));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
