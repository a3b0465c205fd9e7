import { MemorySocket } from '../src/memory-socket.ts';
import { type SeededError, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// Bodies of requests on a connection of the HTTP server, with Node's own parser, on a socket in memory: in pieces, malformed,
// late, not read, or not sent before `100 Continue`. Requests have their responses in order, a body is read as it was sent, and
// the connection continues if the body has arrived, is short and was not held back; otherwise it closes. Nothing hangs.

const PATHS = ['packages/http-server/src/start-server.ts', 'packages/http-server/src/read-body.ts'];
const CONNECTION = 'packages/http-server/src/connection.ts';
const REQUEST = 'packages/http-server/src/incoming-request.ts';
const RESPONSE = 'packages/http-server/src/outgoing-response.ts';
const BODY = 'packages/http-server/src/read-body.ts';

interface Request {
  readonly url: string;
}

interface Response {
  writeHead(status: number, headers: object): void;
  flushHeaders(): void;
  end(body: string): void;
}

interface Modules {
  createServer(
    listener: (request: Request, response: Response) => void,
    options: object,
  ): { server: NodeJS.EventEmitter };
  readBody(request: Request, maxBytes: number): Promise<Buffer>;
}

/**
 * What a client sends. The body of `/read` is read at once, that of `/later` after a while, that of `/begun` after the head of
 * its response, and those of others are not read.
 */
interface Sizes {
  readonly packets: readonly string[];
  /** The number of the packet that the client sends only after `100 Continue`. */
  readonly continues?: number;
  /** Whether the client may be late, once. It is if it sends a request in part only. */
  readonly isLate?: boolean;
  /** Whether the client may end its side at any time. */
  readonly ends?: boolean;
  /** The requests that must have their own responses, if the client is in time. */
  readonly expected: readonly string[];
  /** Whether the connection must close after them, or may before the last of them. */
  readonly closes?: 'must' | 'may';
}

const MAX_BODY = 10;

/** Whether a text ends within a request whose head is complete or not. */
function isIncomplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return text !== '';
  const head = text.slice(0, end);
  const rest = text.slice(end + 4);
  if (/chunked/.test(head)) return !rest.includes('0\r\n\r\n');
  const length = Number(/Content-Length: (\d+)/.exec(head)?.[1] ?? 0);
  return rest.length < length || isIncomplete(rest.slice(length));
}

const scenario =
  ({ packets, continues = -1, isLate = false, ends = false, expected, closes }: Sizes) =>
  ({ createServer, readBody }: Modules) =>
  (world: World) => {
    const served: string[] = [];
    const socket = new MemorySocket();
    let [isServing, wasLate, hasEnded] = [false, false, false];
    let violation: string | null = null;
    const { server } = createServer(
      (request, response) => {
        const { url } = request;
        if (isServing) violation = `${url} is served at the same time as ${served.at(-1)}`;
        isServing = true;
        served.push(url);
        const begin = (status: number, body: string) => response.writeHead(status, { 'Content-Length': body.length });
        const hasBegun = url.startsWith('/begun');
        const respond = (status: number, body: string) => {
          isServing = false;
          if (!hasBegun) begin(status, body);
          response.end(body);
        };
        if (hasBegun) {
          begin(200, url);
          response.flushHeaders();
        }
        const work = () => world.command(`work for ${url}`, { run: () => true });
        const read = () => readBody(request, MAX_BODY);
        const reading = url.startsWith('/read') ? read() : /^\/(later|begun)/.test(url) ? work().then(read) : work();
        reading.then(
          (body) => respond(200, typeof body === 'boolean' || hasBegun ? url : `${url}:${body}`),
          ({ status }: { status: number }) => respond(status, `${url}!`),
        );
      },
      {
        maxConnections: 10,
        renderRejection: () => ({ headers: {}, body: '!' }),
        timeLimits: {
          inactivityTimeout: 0,
          keepAliveTimeout: 0,
          headersTimeout: 5_000,
          requestTimeout: 5_000,
          lingerTimeout: 500,
        },
      },
    );
    server.emit('connection', socket);
    let sent = 0;
    const text = () => packets.slice(0, sent).join('');
    const isOpen = () => !socket.destroyed && !hasEnded;
    world.event('it sends', {
      times: packets.length,
      process: 'main',
      can: () => isOpen() && (sent !== continues || /HTTP\/1\.1 100 /.test(socket.text)),
      run() {
        sent += 1;
        socket.receive(packets[sent - 1] as string);
      },
    });
    if (isLate) {
      const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      world.event('it is late', {
        process: 'main',
        can: () => isOpen() && !wasLate && isIncomplete(text()),
        run() {
          wasLate = true;
          server.emit('clientError', late, socket);
        },
      });
    }
    world.event('it ends', {
      process: 'main',
      may: true,
      can: () => isOpen() && (ends || socket.hasEnded),
      run() {
        hasEnded = true;
        socket.receive(null);
      },
    });
    world.always(() => {
      if (violation !== null) throw new Error(violation);
    });
    world.finally(() => {
      const shown = JSON.stringify(socket.text.replaceAll(/Date: .*\r\n/g, ''));
      const responses = [...socket.text.matchAll(/HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n([^H]*)/g)].map(
        ([head, status, body]) => ({
          status: Number(status),
          body: body as string,
          isLast: head.includes('Connection: close'),
        }),
      );
      const finals = responses.filter(({ status }) => status !== 100);
      const own = finals.filter(({ body }) => body !== '!');
      const bodies = own.map(({ body }) => body).join();
      const isShort = closes === 'may' && bodies === expected.slice(0, -1).join() && socket.destroyed;
      const isComplete = isShort || bodies === expected.join();
      const isInTime = !wasLate && !ends;
      if (own.map(({ body }) => /^\/\w+/.exec(body)?.[0]).join() !== served.join()) {
        throw new Error(`${served} had the responses ${shown}`);
      }
      if (isInTime && !isComplete) throw new Error(`it got ${shown}`);
      if (finals.length - own.length > 1 || (isInTime && finals.length > own.length))
        throw new Error(`it got ${shown}`);
      if (
        responses.some(
          ({ status }, index) => status === 100 && !/^\/(read|later)/.test(responses[index + 1]?.body ?? ''),
        )
      ) {
        throw new Error(`it was asked for a body that is not read: ${shown}`);
      }
      const last = finals.findIndex(({ isLast }) => isLast);
      if (last !== -1 && last < finals.length - 1) throw new Error(`a response follows the last one: ${shown}`);
      const mustClose = last !== -1 || hasEnded || !isComplete || closes === 'must';
      // After a response that came before the body, a client that is late learns of it by the end of the connection.
      const mayClose = mustClose || wasLate;
      if (socket.destroyed ? !mayClose : mustClose)
        throw new Error(`it is ${mustClose ? 'not ' : ''}closed after ${shown}`);
    });
  };

const head = (url: string, length: number, fields = '') =>
  `POST ${url} HTTP/1.1\r\nHost: a\r\n${fields}Content-Length: ${length}\r\n\r\n`;
const get = (url: string) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`;
const EXPECT = 'Expect: 100-continue\r\n';
const CHUNKED = 'POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

const trialOf = (title: string, sizes: Sizes, errors: readonly SeededError[] = []) =>
  trial<Modules>(title, PATHS, scenario(sizes), { samples: 100, errors });

const CONTINUES = {
  packets: [`${get('/a')}${head('/read', 2, EXPECT)}`, 'a', `b${get('/b')}`],
  expected: ['/a', '/read:ab', '/b'],
};
const UNREAD = [`${get('/a')}${head('/b', 2, EXPECT)}`, `ab${get('/c')}`];

await trialOf(
  '2 bodies in pieces between 2 requests',
  {
    packets: [`${get('/a')}${head('/read', 4)}a`, 'bc', `d${head('/later', 3)}xy`, `z${get('/b')}`],
    isLate: true,
    ends: true,
    expected: ['/a', '/read:abcd', '/later:xyz', '/b'],
  },
  [
    ['a piece is lost', BODY, 'chunk.copy(bytes, start);', ''],
    ['a body that is late is awaited', REQUEST, 'this.#receiver?.onFailure(reasonOf(error));', ''],
    [
      'a late body closes the connection at once',
      CONNECTION,
      'if (!this.#isIdle) request.reject(rejection);',
      'if (false) {}',
    ],
  ],
);
await trialOf(
  '2 bodies that are not read or too long',
  {
    packets: [`${head('/a', 4)}a`, `bcd${head('/read', 20)}12345`, `67890abcdefghij${get('/b')}`],
    isLate: true,
    expected: ['/a', '/read!', '/b'],
  },
  [
    [
      'a body that was not read closes the connection',
      CONNECTION,
      '(req.isBodyIncomplete && !isAwaited(req))',
      'req.isBodyIncomplete',
    ],
    [
      'a late body is awaited after its response',
      CONNECTION,
      'else this.close();\n  }\n\n  /** Rejects a request for a tunnel',
      'else {}\n  }\n\n  /** Rejects a request for a tunnel',
    ],
  ],
);
await trialOf(
  'a body of 2 MB that is not read',
  { packets: [`${head('/a', 2_000_000)}a`, 'b', 'c'], expected: ['/a'], closes: 'must' },
  [['it is awaited', CONNECTION, "Number(headers['content-length']) <= MAX_AWAITED_BODY", 'true']],
);
await trialOf('a client that waits for 100 Continue', { ...CONTINUES, continues: 1 }, [
  ['the body is never asked for', REQUEST, 'this.#continueResponse.writeContinue();', '{}'],
]);
await trialOf('a client that does not wait for 100 Continue', { ...CONTINUES, isLate: true, ends: true });
await trialOf(
  'a client that waits in vain',
  {
    packets: UNREAD,
    continues: 1,
    expected: ['/a', '/b'],
    closes: 'must',
  },
  [['its body is awaited', CONNECTION, '!awaitsContinue && ', '']],
);
await trialOf('a client that does not wait in vain', {
  packets: UNREAD,
  isLate: true,
  expected: ['/a', '/b', '/c'],
  closes: 'may',
});
await trialOf(
  'a response that has begun before its body is read',
  { packets: [head('/begun', 2, EXPECT), 'ab'], expected: ['/begun'], closes: 'must' },
  [['the body is asked for within it', REQUEST, 'if (!this.#continueResponse.headersSent) ', '']],
);
await trialOf(
  'an empty body with Expect',
  { packets: [`${head('/a', 0, EXPECT)}${get('/b')}`], expected: ['/a', '/b'] },
  [['it closes the connection', RESPONSE, "this.setHeader('Connection', 'keep-alive');", '']],
);
await trialOf('a malformed chunk', {
  packets: [`${get('/a')}${CHUNKED}2\r\nab\r\n`, 'zz\r\n', get('/b')],
  expected: ['/a', '/read!'],
  closes: 'must',
});
