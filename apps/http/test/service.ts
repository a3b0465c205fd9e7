import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import type { Clock } from '@animal-store/domain';
import { mapPorts, type PortMethod, type Storage } from '@animal-store/domain/ports';
import { test as base, expect, onTestFinished } from 'vitest';
import { compose, TOKENS } from '../src/composition.ts';
import { readConfiguration } from '../src/configuration.ts';
import { createLog, type Log } from '../src/observability/log.ts';
import { type Listener, type ServerOptions, startServer } from '../src/server/server.ts';

export const KEY = 'the-key-of-the-tests';
export const OTHER_KEY = 'the-key-of-another-client';

/** A response as it came over the wire. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body, with each integer as JSON.parse rounds it; undefined if it is empty. */
  readonly json: unknown;
}

type Fields = Readonly<Record<string, string>>;

export interface Call {
  readonly headers?: Fields;
  readonly body?: string | Buffer;
  /** null: without credentials. */
  readonly key?: string | null;
}

/** The service as a Hono application, called without a server. */
export interface App {
  /** Sends one request. */
  call(method: string, path: string, call?: Call): Promise<Reply>;
  /** `POST /v1/pets` with the member's JSON text, as it is, or an object. */
  add(newPet: object | string, headers?: Fields): Promise<Reply>;
}

/** What a service of this process tells its operator. */
export interface Observed {
  /** As the log has them: type, message and stack. */
  readonly unexpectedErrors: readonly unknown[];
  /** The other lines of its log, without their time. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
}

/** The service on a port of its own, called over real sockets, with each path as it is. */
export interface Service extends App {
  readonly port: number;
  /** Sends bytes on a connection and returns all that comes back until the other side closes it. */
  raw(bytes: string | Buffer): Promise<string>;
}

/**
 * A storage in memory whose calls end in a later turn of the event loop, as those of a server do.
 *
 * @param before Is awaited before each call.
 */
function storageWith(before: (operation: PortMethod | 'ready') => unknown = () => {}): Storage {
  const memory = createMemoryStorage();
  const wrap =
    <Given extends unknown[], R>(method: (...given: Given) => Promise<R>, operation: PortMethod | 'ready') =>
    async (...given: Given): Promise<R> => {
      await nextTurn();
      await before(operation);
      return method(...given);
    };
  return { ...memory, ...mapPorts(memory, wrap), ready: wrap(memory.ready, 'ready') };
}

/** A storage whose calls fail with an error once there is one. */
export function failingStorage() {
  const failure: { with?: Error } = {};
  const storage = storageWith(() => {
    if (failure.with !== undefined) throw failure.with;
  });
  return { storage, failure };
}

/** A storage whose pages wait until they are released. */
export function waitingStorage() {
  const [called, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const storage = storageWith((operation) => {
    if (operation !== 'pets.list') return;
    called.resolve();
    return released.promise;
  });
  return { storage, called: called.promise, release: released.resolve };
}

type Environment = Record<string, string>;

export interface ServiceOptions {
  readonly clock?: Clock;
  /** Absent: an empty one. */
  readonly storage?: Storage;
}

/** The log of the service at every level, whose lines the test reads. */
export function createObservedLog(): Observed & { readonly log: Log } {
  const unexpectedErrors: unknown[] = [];
  const logged: Record<string, unknown>[] = [];
  function write(text: string): void {
    const { time: _, ...line } = JSON.parse(text) as Record<string, unknown>;
    if (line['msg'] === 'unexpected error') unexpectedErrors.push(line['err']);
    else logged.push(line);
  }
  return { log: createLog('trace', { write }), unexpectedErrors, logged };
}

/** Puts a service together. */
function put(environment: Environment, { clock = Date.now, storage = storageWith() }: ServiceOptions) {
  const configuration = readConfiguration({ API_KEYS: `${KEY},${OTHER_KEY}`, ...environment });
  const { log, ...observed } = createObservedLog();
  const running = { droppedLines: () => 0, phase: () => 'serving' as const };
  const container = compose({ configuration, storage, clock, log, version: { version: '1.2.3' }, ...running });
  return { container, configuration, observed };
}

export function startApp(environment: Environment = {}, options: ServiceOptions = {}) {
  const { container, observed } = put(environment, options);
  const app = container.resolve(TOKENS.app);
  const client = clientThat(async (method, path, fields, body) => {
    const init = { method, headers: fields, body: body ?? null } as RequestInit;
    const response = await app.request(path, init);
    const bytes = Buffer.from(await response.arrayBuffer());
    const headers = Object.fromEntries(response.headers);
    const text = String(headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
    return { status: response.status, headers, text };
  });
  return { ...client, ...observed, request: app.request };
}

export async function startService(environment: Environment = {}, options: ServiceOptions = {}) {
  const { container, configuration, observed } = put(environment, options);
  const { port, stop } = await startBareServer(container.resolve(TOKENS.listener), {
    maxConnections: configuration.MAX_CONNECTIONS,
    reject: container.resolve(TOKENS.recorder).reject,
  });
  return { ...serviceAt(port), ...observed, stop };
}

/** Serves a listener of the test. It stops when the running test ends. */
export async function startBareServer(listener: Listener, options: Partial<ServerOptions> = {}) {
  const reject = () => {
    throw new Error('nothing is rejected');
  };
  const defaults = { host: '127.0.0.1', port: 0, maxConnections: 3, onDrop() {}, reject };
  const server = await startServer(listener, { ...defaults, ...options });
  const stop = (times = { grace: 0, deadline: 0 }) => server.stop(times);
  onTestFinished(async () => void (await stop()));
  return { port: server.address.port, stop };
}

/** Serves nothing: a request waits for its test. */
export async function startWaitingServer() {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<Parameters<Listener>>();
  const server = await startBareServer((...given) => arrive(given));
  return { ...server, arrived };
}

/** Gives each test a service of its own, with default settings. */
export const test = base.extend('app', () => startApp()).extend('service', () => startService());

/** The value of a metric, by its name with its labels; NaN if it is absent. */
export async function metric({ call }: App, name: string): Promise<number> {
  const { text } = await call('GET', '/metrics', { key: null });
  return Number(text.split(`\n${name} `)[1]?.split('\n')[0]);
}

/** Connects for the running test, and ignores errors: a server may reset a connection that it stops reading. */
export function openSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** All that comes back on a connection until the other side closes it. */
export async function untilClosed(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await new Promise((resolve) => socket.on('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

export const AUTHORIZATION = `Authorization: Bearer ${KEY}\r\n`;
export const JSON_TYPE = 'Content-Type: application/json\r\n';
export const CLOSE = 'Connection: close\r\n';
export const length = (bytes: number) => `Content-Length: ${bytes}\r\n`;

/** The bytes of a request with these lines of header fields. */
export const request = (line: string, fields = '', body = '') => `${line} HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`;

/** The statuses of all responses in a text. */
export const statusesIn = (text: string) =>
  Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => Number(status));

/** A service that listens already. */
export function serviceAt(port: number): Service {
  const client = clientThat(async (method, path, fields, body) => {
    const hasLength = body !== undefined && !('transfer-encoding' in fields);
    const headers = { ...(hasLength && { 'content-length': Buffer.byteLength(body) }), ...fields };
    const request = sendRequest({ host: '127.0.0.1', port, method, path, agent: false, headers });
    request.on('error', () => {}).end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const text = Buffer.concat(await response.toArray()).toString();
    return { status: response.statusCode as number, headers: response.headers, text };
  });
  const raw: Service['raw'] = (bytes) => {
    const socket = openSocket(port);
    socket.write(bytes);
    return untilClosed(socket);
  };
  return { port, ...client, raw };
}

type Send = (method: string, path: string, headers: Fields, body?: string | Buffer) => Promise<Omit<Reply, 'json'>>;

/** A client that sends its requests in this way. */
function clientThat(send: Send): App {
  const call: App['call'] = async (method, path, { headers, body, key = KEY } = {}) => {
    const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
    const reply = await send(method, path, { ...authorization, ...headers }, body);
    return {
      ...reply,
      get json() {
        return reply.text === '' ? undefined : (JSON.parse(reply.text) as unknown);
      },
    };
  };
  const add: App['add'] = (newPet, headers) =>
    call('POST', '/v1/pets', {
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof newPet === 'string' ? newPet : JSON.stringify(newPet),
    });
  return { call, add };
}

/** The expected Error body of a code and status, with a matching message. */
export function errorLike(code: string, status: number, message: RegExp = /./) {
  return { code, message: expect.stringMatching(message), status };
}
