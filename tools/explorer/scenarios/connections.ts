import { MemorySocket } from '../src/memory-socket.ts';
import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// Connections of the HTTP server with Node's own parser, on sockets in memory: pipelined requests, malformed bytes, a request
// that is late, and a stop. The requests of a connection are served one after the other, each once, and their responses come in
// their order. A stop ends by its deadline, and drops no connection whose requests have their responses.

const PATHS = [
  'packages/http-server/src/start-server.ts',
  'packages/http-server/src/stop.ts',
  'packages/http-server/src/incoming-request.ts',
];
const CONNECTION = 'packages/http-server/src/connection.ts';
const CONNECTIONS = 'packages/http-server/src/connections.ts';
const [, STOP] = PATHS as [string, string];

interface Request {
  readonly url: string;
}

interface Response {
  writeHead(status: number, headers: object): void;
  end(body: string): void;
}

interface Connections {
  readonly size: number;
}

interface Modules {
  createServer(
    listener: (request: Request, response: Response) => void,
    options: object,
  ): { server: NodeJS.EventEmitter; connections: Connections };
  runningServer(
    server: { address(): null; close(done: () => void): void },
    connections: Connections,
  ): { stop(times: { grace: number; deadline: number }): Promise<number> };
}

interface Sizes {
  /** The packets of each client. */
  readonly clients: Readonly<Record<string, readonly string[]>>;
  readonly isLate?: boolean;
  readonly isStopped?: boolean;
  /** Whether clients may disconnect at any time. */
  readonly isLeft?: boolean;
  /** Whether a request may never have a response. */
  readonly hangs?: boolean;
}

/** The limits of a stop, in milliseconds. */
const [GRACE, DEADLINE] = [1_000, 2_000];

/** In milliseconds. QUIET is a constant of the stop. */
const [REQUEST_TIMEOUT, QUIET] = [5_000, 750];

/** The targets of the complete requests in a text. */
const targetsIn = (text: string): readonly string[] => text.match(/(?<=^GET )\S+(?= HTTP)(?=[\s\S]*\r\n\r\n)/gm) ?? [];

const scenario =
  ({ clients, isLate = false, isStopped = false, isLeft = false, hangs = false }: Sizes) =>
  ({ createServer, runningServer }: Modules) =>
  (world: World) => {
    const sockets = new Map<string, MemorySocket>();
    const serving = new Map<string, string>();
    const served: string[] = [];
    const left = new Set<string>();
    /** Clients that were late while their requests waited: nothing was read meanwhile. */
    const notLateUntil = new Map<MemorySocket, number>();
    let violation: string | null = null;
    const { server, connections } = createServer(
      ({ url }, response) => {
        const client = url.slice(1, -1);
        if (serving.has(client)) violation = `${url} is served at the same time as ${serving.get(client)}`;
        serving.set(client, url);
        served.push(url);
        const head = () => response.writeHead(200, { 'Content-Length': url.length });
        // Some heads are written before a stop, and their responses end later.
        if (client === 'b') head();
        const outcomes = { done: () => true, ...(hangs && { 'no response': () => false }) };
        void world.command(`work for ${url}`, { run: outcomes }).then((isDone) => {
          if (!isDone) return;
          serving.delete(client);
          if (client !== 'b') head();
          response.end(url);
        });
      },
      {
        maxConnections: 10,
        renderRejection({ status }: { status: number }, { socket }: { socket: MemorySocket }) {
          if (status === 408 && world.now() < (notLateUntil.get(socket) ?? 0)) {
            violation = 'a client that waits for responses is late';
          }
          return { headers: {}, body: '!' };
        },
        timeLimits: {
          inactivityTimeout: 0,
          keepAliveTimeout: 0,
          headersTimeout: REQUEST_TIMEOUT,
          requestTimeout: REQUEST_TIMEOUT,
          lingerTimeout: 500,
        },
      },
    );
    for (const [name, packets] of Object.entries(clients)) {
      const socket = new MemorySocket();
      sockets.set(name, socket);
      server.emit('connection', socket);
      let sent = 0;
      world.event(`${name} sends`, {
        times: packets.length,
        process: 'main',
        run: () => {
          socket.receive(packets[sent] as string);
          sent += 1;
        },
      });
      world.event(`${name} ends`, {
        process: 'main',
        can: () => socket.hasEnded && !socket.destroyed,
        run: () => socket.receive(null),
      });
      if (isLeft) {
        const run = () => {
          left.add(name);
          socket.destroy();
        };
        world.event(`${name} disconnects`, { may: true, process: 'main', run });
      }
      if (isLate) {
        const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
        const run = () => {
          const requests = targetsIn(packets.slice(0, sent).join(''));
          if (!requests.every((url) => served.includes(url))) notLateUntil.set(socket, world.now() + REQUEST_TIMEOUT);
          server.emit('clientError', late, socket);
        };
        world.event(`${name} is late`, { may: true, process: 'main', run });
      }
    }
    if (isStopped)
      world.pass(QUIET, 1, () => [...world.timers.values()].every(({ due }) => world.now() + QUIET <= due));
    let stoppedAt: number | null = null;
    let stopEnded = false;
    if (isStopped) {
      const closing = {
        address: () => null,
        close: (done: () => void) => {
          const check = () => connections.size === 0 && done();
          for (const socket of sockets.values()) socket.once('close', () => queueMicrotask(check));
          check();
        },
      };
      const running = runningServer(closing, connections);
      world.event('stop', {
        process: 'main',
        run: () => {
          stoppedAt = world.now();
          void running.stop({ grace: GRACE, deadline: DEADLINE }).then((dropped) => {
            stopEnded = true;
            if (connections.size > 0) violation = 'a stop ends before its connections';
            const inFlight = [...serving.keys()].filter((name) => !left.has(name)).length;
            if (dropped > inFlight) violation = 'a connection is dropped that has no request in flight';
          });
        },
      });
    }
    world.always(() => {
      if (violation !== null) throw new Error(violation);
      if (stoppedAt !== null && !stopEnded && world.now() > stoppedAt + GRACE + DEADLINE + 10) {
        throw new Error('a stop takes too long');
      }
    });
    world.finally(() => {
      if (isStopped && !stopEnded) throw new Error('a stop never ends');
      for (const [name, socket] of sockets) {
        const own = served.filter((url) => url.startsWith(`/${name}`));
        const bodies = [...socket.text.matchAll(/HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n([^H]*)/g)].map(([, , body]) => body);
        const responses = bodies.filter((body) => body !== '!');
        const isDisconnected = (isLeft || hangs) && socket.destroyed && !socket.hasEnded;
        if (isDisconnected ? responses.length > own.length : responses.join() !== own.join())
          throw new Error(`${name}: requests ${own}, responses ${responses}`);
        if (own.join() !== [...own].sort().join()) throw new Error(`${name}: served in the order ${own}`);
        const rejections = bodies.length - responses.length;
        if (rejections > 1 || (rejections === 1 && bodies.at(-1) !== '!')) throw new Error(`${name}: ${bodies}`);
        for (const packet of clients[name] as readonly string[]) {
          const requests = targetsIn(packet);
          const isServed = requests.some((url) => own.includes(url)) || (!isStopped && rejections === 0);
          if (isServed && !isDisconnected && !requests.every((url) => own.includes(url))) {
            throw new Error(`${name}: only ${own} of ${requests}`);
          }
        }
        if ((rejections > 0 || socket.hasEnded) && !socket.destroyed) throw new Error(`${name} is never closed`);
      }
    });
  };

const get = (url: string) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`;

const trialOf = (title: string, sizes: Sizes, options: TrialOptions = {}) =>
  trial<Modules>(title, PATHS, scenario(sizes), { samples: 100, ...options });

const [first, second] = [get('/a2').slice(0, 9), get('/a2').slice(9)];

const pair = { a: [get('/a1') + get('/a2')], b: [get('/b1')] };
const inParts = { a: [get('/a1') + first, second + get('/a3')] };

await trialOf(
  '4 requests in parts, malformed bytes, a timeout',
  { clients: { a: [get('/a1') + first, `${second}${get('/a3')}${get('/a4')}`, 'no\r\n\r\n'] }, isLate: true },
  {
    errors: [
      [
        'requests are served as they come',
        CONNECTION,
        'if (this.#isIdle) this.#serve(request, response);\n    else',
        'this.#serve(request, response);\n    if (false)',
      ],
      [
        'the next request waits forever',
        CONNECTION,
        'if (this.#queue.length > 0) setImmediate(this.#serveNext);\n    else ',
        '',
      ],
      [
        'a rejection comes before the responses to earlier requests',
        CONNECTION,
        'if (this.#isIdle) serve();\n    else this.#enqueue(serve);',
        'serve();',
      ],
      [
        'a timeout rejects requests that wait',
        CONNECTION,
        'rejection === TIMED_OUT && this.#queue.length > 0',
        'false',
      ],
    ],
  },
);
await trialOf('half of a request that is late', { clients: { a: [get('/a1') + get('/a2'), 'GET /'] }, isLate: true });
await trialOf(
  '2 pipelined requests, a stop',
  { clients: { a: [get('/a1') + get('/a2')] }, isStopped: true, hangs: true },
  {
    errors: [
      [
        'requests that wait are lost in a stop',
        CONNECTION,
        'this.#server.isStopping) && this.#queue.length === 0)',
        'this.#server.isStopping))',
      ],
    ],
  },
);
await trialOf('3 requests in parts, a stop, a disconnection', { clients: inParts, isStopped: true, isLeft: true });
await trialOf(
  '2 connections, a stop',
  { clients: pair, isStopped: true, hangs: true },
  {
    errors: [
      ['idle connections stay open', CONNECTIONS, 'for (const connection of this.#open) connection.closeIfIdle();', ''],
      [
        'connections stay open when they are idle',
        CONNECTION,
        'this.#isBroken || this.#server.isDraining',
        'this.#isBroken',
      ],
      ['nothing ends a request at the deadline', STOP, 'dropped = connections.dropAll();', ''],
      ['a stop does not wait for connections', STOP, 'await closed;', ''],
    ],
    isLarge: true,
  },
);
