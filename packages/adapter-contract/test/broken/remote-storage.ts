import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createResource } from '@animal-store/adapter-kit';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import {
  checkFormat,
  mapPorts,
  type PetArchive,
  type Storage,
  StorageMisconfigured,
  unavailable,
} from '@animal-store/domain/ports';
import { onTestFinished } from 'vitest';

/** The password in the URL of each place. */
export const PASSWORD = 'the-password-of-the-zoo';

/** As Basic authentication sends them. */
export const CREDENTIALS = `zoo:${PASSWORD}`;

export type ArchivedStorage = Storage & { readonly archive: PetArchive };

/** Places by the paths of their URLs. */
const places = new Map<string, Place>();

export interface Place {
  readonly file: string;
  readonly storage: ArchivedStorage;
  format: number;
  isLost: boolean;
  isPartAway: boolean;
  isCounterBack: boolean;
}

export const placeAt = (url: string) => places.get(new URL(url).pathname) as Place;

/** Runs SQL at a place, as an operator does. */
export function execute(url: string, sql: string): void {
  const db = new DatabaseSync(placeAt(url).file, { timeout: 5_000 });
  db.exec(sql);
  db.close();
}

/** Locks a place for writing. Returns a function that ends that. */
export function lock(url: string): () => void {
  const db = new DatabaseSync(placeAt(url).file, { timeout: 5_000 });
  db.exec('BEGIN IMMEDIATE');
  return () => db.close();
}

/** Calls by the numbers that go to the server and back. */
const calls = new Map<string, () => Promise<unknown>>();

/** Starts a server with an empty file for the running test, and returns the URL of the place. */
export async function startServer(): Promise<string> {
  const server = createServer((socket) => {
    const lines = createInterface({ input: socket.on('error', () => {}) }).on('error', () => {});
    lines.on('line', async (number) => {
      await calls.get(number)?.();
      // Some responses come later than others: a connection may break between a write and its response.
      for (let turns = Number(number) % 10; turns > 0; turns -= 1) await nextTurn();
      socket.write(`${number}\n`);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-contract-'));
  const file = join(folder, 'pets.db');
  const storage = (await createSqliteStorage({ file })) as ArchivedStorage;
  onTestFinished(async () => {
    server.close();
    await storage.close();
    rmSync(folder, { recursive: true });
  });
  const path = `/${crypto.randomUUID()}`;
  places.set(path, { file, storage, format: 1, isLost: false, isPartAway: false, isCounterBack: false });
  return `test://${CREDENTIALS}@127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

/** The message of a connection that breaks. */
export const CLOSED = 'the connection was closed';

interface Connection {
  readonly socket: Socket;
  run<Result>(call: () => Promise<Result>): Promise<Result>;
}

async function connected({ port, hostname }: URL): Promise<Connection> {
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const waiting = new Map<string, () => void>();
  const lines = createInterface({ input: socket.on('error', () => {}) }).on('error', () => {});
  lines.on('line', (number) => waiting.get(number)?.());
  const { promise: end, reject } = Promise.withResolvers<never>();
  end.catch(() => {});
  socket.on('close', () => reject(unavailable(new Error(CLOSED))));
  return {
    socket,
    async run(call) {
      const number = String(calls.size);
      let result: Promise<unknown> | undefined;
      calls.set(number, async () => {
        result = call();
        await result.catch(() => {});
      });
      const response = new Promise<void>((resolve) => waiting.set(number, resolve));
      socket.write(`${number}\n`);
      await Promise.race([response, end]);
      return (await result) as never;
    },
  };
}

/** The same storage, with a function around each of its calls. */
function eachCall(storage: ArchivedStorage, around: <C>(call: () => Promise<C>) => Promise<C>): ArchivedStorage {
  const { archive, ready } = storage;
  const ports = mapPorts(
    storage,
    (method) =>
      (...given) =>
        around(() => method(...given)),
  );
  return {
    ...storage,
    ...ports,
    archive: {
      read: (...given) => around(() => archive.read(...given)),
      restore: (...given) => around(() => archive.restore(...given)),
      lastId: () => around(() => archive.lastId()),
      skipIds: (...given) => around(() => archive.skipIds(...given)),
    },
    ready: () => around(ready),
  };
}

export interface RemoteOptions {
  /** In milliseconds. */
  readonly timeout?: number;
  readonly replacesSilentConnections?: boolean;
}

/** The storage of a place, by way of its server. */
export function openRemoteStorage(text: string, options: RemoteOptions = {}): ArchivedStorage {
  const { timeout = 2_200, replacesSilentConnections = true } = options;
  if (!URL.canParse(text)) throw new StorageMisconfigured('it must be a URL');
  const url = new URL(text);
  if (url.password === '') throw new StorageMisconfigured('the URL must have a password');
  const place = placeAt(text);
  const isTimeout = (failure: unknown) => (failure as Error).name === 'TimeoutError';
  const isClosed = (failure: unknown) => (failure as { cause?: Error }).cause?.message === CLOSED;
  const { call, close } = createResource<Connection>({
    async open() {
      checkFormat('the place', place.format, 1);
      return connected(url);
    },
    close: ({ socket }) => socket.destroy(),
    isLost: (failure) => (isTimeout(failure) ? replacesSilentConnections : isClosed(failure)),
    toPortError: (failure) => (isTimeout(failure) ? unavailable(failure) : failure),
    timeout,
  });
  const remote = eachCall(place.storage, (operation) =>
    call(({ connection }) =>
      connection.run(async () => {
        if (place.isPartAway) throw unavailable(new Error('a partition is away'));
        if (place.isLost) throw new StorageMisconfigured('the place was lost');
        return operation();
      }),
    ),
  );
  return { ...remote, location: url.host, close, [Symbol.asyncDispose]: close };
}
