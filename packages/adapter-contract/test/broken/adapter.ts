import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { BUDGET, createResource, timeLeft, withTimeout } from '@animal-store/adapter-kit';
import { checkFormat, type Storage, StorageMisconfigured, unavailable } from '@animal-store/domain/ports';
import { type Call, fromLine, LOST, newPlace, type Operations, operationsOn, type Response, toLine } from './engine.ts';

/** A storage at a place of the engine, with what only a wrong one does. */
export type CopiedStorage = Storage & Operations;

/** The message of a connection that breaks. */
const CLOSED = 'the connection was closed';

/** The methods of the engine, each by its name. */
function operationsBy(send: (port: string, method: string, given: readonly unknown[]) => unknown): Operations {
  const ports = Object.entries(operationsOn(newPlace())).map(([port, methods]) => {
    const sent = Object.keys(methods).map((method) => [method, (...given: unknown[]) => send(port, method, given)]);
    return [port, Object.fromEntries(sent)];
  });
  return Object.fromEntries(ports);
}

type Connection = Awaited<ReturnType<typeof connectTo>>;

async function connectTo({ port, hostname, pathname: path }: URL, closesFailed: boolean) {
  const socket = connect(Number(port), hostname);
  const waiting = new Map<number, PromiseWithResolvers<Response>>();
  socket
    .on('error', () => {})
    .on('close', () => {
      for (const { reject } of waiting.values()) reject(new Error(CLOSED));
    });
  createInterface({ input: socket })
    .on('line', (line) => {
      const response: Response = fromLine(line);
      waiting.get(response.number)?.resolve(response);
      waiting.delete(response.number);
    })
    .on('error', () => {});
  let number = 0;

  async function send(call: Omit<Call, 'number' | 'path'>): Promise<unknown> {
    if (socket.destroyed) throw new Error(CLOSED);
    number += 1;
    const response = Promise.withResolvers<Response>();
    waiting.set(number, response);
    socket.write(toLine({ number, path, ...call }));
    const { result, error } = await response.promise;
    if (error === undefined) return result;
    throw error.message === LOST ? new StorageMisconfigured(LOST) : error;
  }

  const close = () => socket.destroy();
  try {
    await once(socket, 'connect');
    const format = send({ port: 'place', method: 'format', given: [], timeout: BUDGET.driver });
    checkFormat('the place', (await withTimeout(format, BUDGET.driver)) as number, 1);
    return { send, close };
  } catch (failure) {
    if (closesFailed) close();
    throw failure;
  }
}

/** What a bug changes without a function of its own. */
export interface Options {
  readonly replacesSilentConnections?: boolean;
  readonly closesReplacedConnections?: boolean;
  readonly closesFailedConnections?: boolean;
  readonly sharesSessions?: boolean;
  readonly cachesFailures?: boolean;
}

/** The URLs of the storages that are open. */
const sessions = new Set<URL>();

/** Servers for which a URL had no password. */
const failed = new Set<string>();

/** Opens a storage at the place of a URL. */
export function openStorage(text: string, options: Options = {}): CopiedStorage {
  const { replacesSilentConnections = true, closesReplacedConnections = true } = options;
  const { closesFailedConnections = true } = options;
  const { sharesSessions = false, cachesFailures = false } = options;
  if (!URL.canParse(text)) throw new StorageMisconfigured('it must be a URL');
  const url = new URL(text);
  const hasSession = sharesSessions && [...sessions].some(({ host }) => host === url.host);
  if ((url.password === '' && !hasSession) || (cachesFailures && failed.has(url.host))) {
    failed.add(url.host);
    throw new StorageMisconfigured('the URL must have a password');
  }
  const isTimeout = (failure: unknown) => (failure as Error).name === 'TimeoutError';
  const { call, close } = createResource<Connection>({
    open: () => connectTo(url, closesFailedConnections),
    close: (connection) => closesReplacedConnections && connection.close(),
    isLost: (failure) => (isTimeout(failure) ? replacesSilentConnections : (failure as Error).message === CLOSED),
    // What the engine rejects is a defect of the call.
    toPortError: (failure) =>
      failure instanceof TypeError || failure instanceof RangeError ? failure : unavailable(failure),
  });
  const operations = operationsBy((port, method, given) =>
    call((call) => call.connection.send({ port, method, given, timeout: timeLeft(call) })),
  );
  const { ready } = operations.place;
  sessions.add(url);
  const end = () => {
    sessions.delete(url);
    return close();
  };
  return { ...operations, ready, location: url.host, close: end, [Symbol.asyncDispose]: end };
}
