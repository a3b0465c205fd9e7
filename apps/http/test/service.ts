import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request as sendRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStorage, STORAGES, type Storages } from '@animal-store/app-kit';
import type { Clock } from '@animal-store/domain';
import { freePorts } from '@animal-store/test-kit/free-ports';
import { test as base, expect, onTestFinished } from 'vitest';
import { compose, type Parts, TOKENS } from '../src/composition.ts';
import { readConfiguration } from '../src/configuration.ts';
import { startServer } from '../src/server/server.ts';

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

export interface Call {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** null: without credentials. */
  readonly key?: string | null;
}

/** The service as a Hono application, called without a server. */
export interface App {
  /** Sends one request. */
  call(method: string, path: string, call?: Call): Promise<Reply>;
  /** `POST /v1/pets` with the member's JSON text, as it is, or an object. */
  add(newPet: object | string, headers?: OutgoingHttpHeaders): Promise<Reply>;
  /** Every unexpected error of the service. */
  readonly unexpectedErrors: unknown[];
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

export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-http-'));
  // A process that was killed may be writing still.
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  return join(folder, 'animals.db');
}

export interface ServiceOptions {
  readonly clock?: Clock;
  /** Gets the function that stops the service. Absent: it stops when the running test ends. */
  readonly onEnd?: (stop: () => Promise<void>) => void;
}

async function openParts(environment: Record<string, string>): Promise<Pick<Parts, 'configuration' | 'storage'>> {
  const configuration = readConfiguration({
    API_KEYS: `${KEY},${OTHER_KEY}`,
    ...storageEnvironment(),
    ...environment,
  });
  const { storage } = await openStorage(configuration.storage);
  // A busy server creates a new database more slowly than a call may take.
  if (TEST_STORAGE !== undefined) {
    await expect.poll(() => storage.ready().then(() => null, String)).toBe(null);
  }
  return { configuration, storage };
}

export async function startService(
  environment: Record<string, string> = {},
  options: ServiceOptions = {},
): Promise<Service> {
  return serve(await openParts(environment), options);
}

export async function startApp(
  environment: Record<string, string> = {},
  { clock = Date.now, onEnd = onTestFinished }: ServiceOptions = {},
): Promise<App> {
  const parts = await openParts(environment);
  const { container, unexpectedErrors } = put(parts, clock);
  onEnd(() => parts.storage.close());
  const app = container.resolve(TOKENS.app);
  const call: App['call'] = async (method, path, { headers = {}, body, key = KEY } = {}) => {
    const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
    const init = { method, headers: { ...authorization, ...(headers as Record<string, string>) }, body: body ?? null };
    const response = await app.request(path, init as RequestInit);
    const text = await response.text();
    return replyOf(response.status, Object.fromEntries(response.headers), text);
  };
  return { call, add: adding(call), unexpectedErrors };
}

/** Puts a service together from these parts. */
function put(parts: Pick<Parts, 'configuration' | 'storage'>, clock: Clock) {
  const unexpectedErrors: unknown[] = [];
  const log: Parts['log'] = {
    ...{ debug() {}, info() {}, warn() {}, warnThrottled() {} },
    error: ({ err }: { err: unknown }) => void unexpectedErrors.push(err),
    child: () => log,
    dropped: () => 0,
  };
  const container = compose({ ...parts, clock, version: { version: '1.2.3' }, log, isStopping: () => false });
  return { container, unexpectedErrors };
}

/** Serves what is put together from these parts. */
export async function serve(
  parts: Pick<Parts, 'configuration' | 'storage'>,
  { clock = Date.now, onEnd = onTestFinished }: ServiceOptions = {},
): Promise<Service> {
  const { container, unexpectedErrors } = put(parts, clock);
  const server = await startServer(container.resolve(TOKENS.listener), {
    host: '127.0.0.1',
    port: 0,
    maxConnections: parts.configuration.MAX_CONNECTIONS,
    reject: container.resolve(TOKENS.exchange).reject,
    onDrop() {},
  });
  onEnd(async () => {
    await server.stop({ grace: 0, deadline: 0 });
    await parts.storage.close();
  });
  return serviceAt(server.address.port, unexpectedErrors);
}

/** In memory the tests of a file can share a service. On other storages each test has a service and a database of its own. */
const scope = (TEST_STORAGE === undefined ? 'file' : 'test') as 'file';

/** Gives tests a service with default settings: the shared ones may be used by others of the file. */
export const test = base
  .extend('app', () => startApp())
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern
  .extend('sharedApp', { scope }, ({}, { onCleanup }) => startApp({}, { onEnd: onCleanup }))
  .extend('service', () => startService())
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of fixtures from the pattern
  .extend('shared', { scope }, ({}, { onCleanup }) => startService({}, { onEnd: onCleanup }));

export const freePort = async (): Promise<number> => (await freePorts(1))[0] as number;

/** Connects for the running test, and ignores errors: a server may reset a connection that it stops reading. */
export function openSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** A service that listens already. */
export function serviceAt(port: number, unexpectedErrors: unknown[] = []): Service {
  const call: Service['call'] = (method, path, { headers = {}, body, key = KEY } = {}) =>
    new Promise((resolve, reject) => {
      const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
      const request = sendRequest({
        host: '127.0.0.1',
        port,
        method,
        path,
        agent: false,
        headers: {
          ...authorization,
          ...(body === undefined || 'transfer-encoding' in headers
            ? {}
            : { 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve(replyOf(response.statusCode as number, response.headers, text));
        });
      });
      request.end(body);
    });

  return {
    port,
    unexpectedErrors,
    call,
    add: adding(call),
    raw: (bytes) =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
        socket.on('data', (chunk) => chunks.push(chunk));
        socket.on('error', reject);
        socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
      }),
  };
}

function replyOf(status: number, headers: IncomingHttpHeaders, text: string): Reply {
  return {
    ...{ status, headers, text },
    get json() {
      return JSON.parse(text) as unknown;
    },
  };
}

function adding(call: App['call']): App['add'] {
  return (newPet, headers = {}) =>
    call('POST', '/v1/pets', {
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof newPet === 'string' ? newPet : JSON.stringify(newPet),
    });
}

/** The expected Error body of a code and status, with a matching message. */
export function errorLike(code: string, status: number, message: RegExp = /./) {
  return { code, message: expect.stringMatching(message), status };
}
