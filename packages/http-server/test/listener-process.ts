// A server in a process of its own, for tests that look at its event loop or its memory. Prints its port.
import { setTimeout as sleep } from 'node:timers/promises';
import { type IncomingRequest, type OutgoingResponse, readBody, startServer } from '../src/index.ts';

/** More than fits into the buffers of both sides. */
const HUGE = Buffer.alloc(20_000_000, 'x');

async function listener(request: IncomingRequest, response: OutgoingResponse): Promise<void> {
  const [path, query] = String(request.url).split('?');
  switch (path) {
    case '/body':
      await readBody(request, 1_000_000);
      response.end('read');
      return;
    case '/streamed':
      request.on('data', () => {}).on('end', () => response.end());
      return;
    case '/large':
      response.end(Buffer.alloc(1_000_000, 'x').toString());
      return;
    case '/longest-turn':
      response.end(String(longestTurn));
      longestTurn = 0;
      return;
    case '/huge':
      response.end(HUGE);
      return;
    case '/stream':
      response.write('begun');
      return;
    case '/block':
      for (const end = performance.now() + Number(query); performance.now() < end; );
      response.end();
      return;
    case '/slow':
      await sleep(Number(query));
      response.end('slow');
      return;
    default:
      // The cost of a cheap response of a service.
      for (const end = performance.now() + 0.02; performance.now() < end; );
      response.end('hello');
  }
}

/** The longest turn of the event loop, in milliseconds of CPU time: other processes have no part in it. */
let longestTurn = 0;
let last = process.threadCpuUsage();
const measuring = setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  longestTurn = Math.max(longestTurn, (user + system) / 1000);
  last = process.threadCpuUsage();
});

const { address, stop } = await startServer(
  (request, response) => void listener(request, response).catch(() => response.end()),
  {
    host: '127.0.0.1',
    port: 0,
    maxConnections: 10_000,
    renderRejection: ({ message }) => ({ headers: {}, body: message }),
  },
);
console.log(address.port);
process.once('SIGTERM', async () => {
  clearInterval(measuring);
  await stop({ grace: 0, deadline: 1_000 });
});
