import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createMemoryStorage } from '@animal-store/adapter-memory';
import { openStorage, STORAGES, type Storages } from '@animal-store/app-kit';
import type { Clock } from '@animal-store/domain';
import { mapPorts, type PetStorage } from '@animal-store/domain/ports';
import { freePorts } from '@animal-store/test-kit/free-ports';
import { test as base, expect, onTestFinished } from 'vitest';
import { compose, type Parts, TOKENS } from '../src/composition.ts';
import { readConfiguration } from '../src/configuration.ts';
import { type Listener, startServer } from '../src/server/server.ts';

export const KEY = 'the-key-of-the-tests';
export const OTHER_KEY = 'the-key-of-another-client';

/** A response as it came over the wire. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body, with each integer as JSON.parse rounds it. */
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
  readonly unexpectedErrors: readonly unknown[];
  /** The lines of its log at every level, without those of unexpected errors. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
}

/** The service on a port of its own, called over real sockets, with each path as it is. */
export interface Service extends App {
  readonly port: number;
  /** Sends bytes on a connection and returns all that comes back until the other side closes it. */
  raw(bytes: string | Buffer): Promise<string>;
}

/** The storage that the run of these tests is for; absent: memory. */
const TEST_STORAGE = process.env['TEST_STORAGE'];

/** Returns a new and empty place for the running test. Tests of the adapter use it, too. */
const { freshPlace } = TEST_STORAGE
  ? await import(`../../../packages/adapter-${TEST_STORAGE}/test/fresh-place.ts`)
  : {};

/** The variables that choose the storage of this run of the tests, at an empty place for each call. */
export function storageEnvironment(): Record<string, string> {
  if (TEST_STORAGE === undefined) return {};
  const variable = (STORAGES as Storages)[TEST_STORAGE]?.variable;
  return { STORAGE: TEST_STORAGE, ...(variable && { [variable.name]: freshPlace() }) };
}

/** A storage in memory whose calls fail with an error once there is one. */
export function failingStorage() {
  const failure: { with?: Error } = {};
  const failing =
    <Given extends unknown[], R>(method: (...given: Given) => Promise<R>) =>
    async (...given: Given): Promise<R> => {
      if (failure.with !== undefined) throw failure.with;
      return method(...given);
    };
  const memory = createMemoryStorage();
  const storage: PetStorage = { ...memory, ...mapPorts(memory, failing), ready: failing(memory.ready) };
  return { storage, failure };
}

/** A storage in memory whose pages wait until they are released. */
export function waitingStorage() {
  const memory = createMemoryStorage();
  const [called, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const list: typeof memory.pets.list = async (...query) => {
    called.resolve();
    await released.promise;
    return memory.pets.list(...query);
  };
  const storage: PetStorage = { ...memory, pets: { ...memory.pets, list } };
  return { storage, called: called.promise, release: released.resolve };
}

export interface ServiceOptions {
  readonly clock?: Clock;
  /** Absent: the one that the run of these tests is for, at an empty place. */
  readonly storage?: PetStorage;
  /** Gets the function that stops the service. Absent: it stops when the running test ends. */
  readonly onEnd?: (stop: () => Promise<void>) => void;
}

/** Puts a service together. */
async function put(environment: Environment, { clock = Date.now, storage: given }: ServiceOptions) {
  const API_KEYS = `${KEY},${OTHER_KEY}`;
  const configuration = readConfiguration({ API_KEYS, ...storageEnvironment(), ...environment });
  const storage = given ?? (await openStorage(configuration.storage)).storage;
  // A busy server creates a new database more slowly than a call may take.
  if (TEST_STORAGE !== undefined) await expect.poll(() => storage.ready().then(() => null, String)).toBe(null);
  const unexpectedErrors: unknown[] = [];
  const logged: Record<string, unknown>[] = [];
  const write = (level: number, fields?: object) => (line: unknown, msg?: string) =>
    void logged.push({ level, msg, ...fields, ...(line as object) });
  const child = (fields?: object) => ({ debug: write(20, fields), info: write(30, fields) });
  const log: Parts['log'] = {
    ...child(),
    warn: write(40),
    error: ({ err }: { err: unknown }) => void unexpectedErrors.push(err),
    warnThrottled: (message, details) => write(40)(details, message),
    child,
    dropped: () => 0,
  };
  const version = { version: '1.2.3' };
  const container = compose({ configuration, storage, clock, version, log, isStopping: () => false });
  return { container, configuration, storage, observed: { unexpectedErrors, logged } };
}

type Environment = Record<string, string>;

export async function startApp(environment: Environment = {}, options: ServiceOptions = {}): Promise<App & Observed> {
  const { container, storage, observed } = await put(environment, options);
  onTestFinished(() => storage.close());
  const app = container.resolve(TOKENS.app);
  const client = clientThat(async (method, path, headers, body) => {
    const init = { method, headers, body: body ?? null } as RequestInit;
    const response = await app.request(path, init);
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
  });
  return { ...client, ...observed };
}

export async function startService(
  environment: Environment = {},
  options: ServiceOptions = {},
): Promise<Service & Observed> {
  const { container, configuration, storage, observed } = await put(environment, options);
  const server = await startServer(container.resolve(TOKENS.listener), {
    host: '127.0.0.1',
    port: 0,
    maxConnections: configuration.MAX_CONNECTIONS,
    reject: container.resolve(TOKENS.exchange).reject,
    onDrop() {},
  });
  const { onEnd = onTestFinished } = options;
  onEnd(async () => {
    await server.stop({ grace: 0, deadline: 0 });
    await storage.close();
  });
  return { ...serviceAt(server.address.port), ...observed };
}

/** Serves a listener of the test. It stops when the running test ends. */
export async function startBareServer(listener: Listener, host = '127.0.0.1') {
  const reject = () => {
    throw new Error('nothing is rejected');
  };
  const server = await startServer(listener, { host, port: 0, maxConnections: 3, onDrop() {}, reject });
  onTestFinished(async () => void (await server.stop({ grace: 0, deadline: 0 })));
  return { ...server, port: server.address.port };
}

/** Gives each test a service of its own, with default settings. */
export const test = base.extend('app', () => startApp()).extend('service', () => startService());

/** The value of a metric, by its name with its labels; NaN if it is absent. */
export async function metric({ call }: App, name: string): Promise<number> {
  const { text } = await call('GET', '/metrics', { key: null });
  return Number(text.split(`\n${name} `)[1]?.split('\n')[0]);
}

export const freePort = async (): Promise<number> => (await freePorts(1))[0] as number;

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
        return JSON.parse(reply.text) as unknown;
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
