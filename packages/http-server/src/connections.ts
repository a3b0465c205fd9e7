import type { Socket } from 'node:net';
import { Connection, type ConnectionOptions, type ConnectionServer } from './connection.ts';
import { FairScheduler } from './reading.ts';
import type { DropReason } from './server.ts';
import { MAX_QUEUED_REQUESTS } from './size-limits.ts';

export class Connections implements ConnectionServer {
  readonly options: ConnectionOptions;
  readonly scheduler = new FairScheduler();
  isStopping = false;
  isDraining = false;
  /** When a connection was opened or a request arrived last: on the clock of `performance.now()`, in milliseconds. */
  lastActivityAt = Number.NEGATIVE_INFINITY;
  readonly #onDrop: (reason: DropReason) => void;
  readonly #open = new Set<Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();
  #queued = 0;

  constructor(options: ConnectionOptions, onDrop: (reason: DropReason) => void) {
    this.options = options;
    this.#onDrop = onDrop;
  }

  get size(): number {
    return this.#open.size;
  }

  noteActivity(): void {
    this.lastActivityAt = performance.now();
  }

  add(socket: Socket): void {
    this.noteActivity();
    const connection = new Connection(socket, this);
    this.#bySocket.set(socket, connection);
    this.#open.add(connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      connection.clearQueue();
    });
  }

  /** The connection on a socket that the server has accepted. */
  of(socket: Socket): Connection {
    return this.#bySocket.get(socket) as Connection;
  }

  adjustQueued(change: number): void {
    this.#queued += change;
    if (this.#queued <= MAX_QUEUED_REQUESTS) return;
    this.#dropHeaviest();
    // Otherwise the bytes of others are parsed before the memory of the dropped connections is free.
    for (const connection of this.#open) connection.yieldToOthers();
  }

  /** Closes idle connections, and the others when they are idle. */
  drain(): void {
    this.isDraining = true;
    for (const connection of this.#open) connection.closeIfIdle();
  }

  /** Closes all connections at once, also those with requests in flight, and returns their number. */
  dropAll(): number {
    const { size } = this.#open;
    for (const connection of this.#open) connection.drop();
    return size;
  }

  #dropHeaviest(): void {
    const heaviest = [...this.#open].sort((one, other) => other.queued - one.queued);
    for (const connection of heaviest) {
      if (this.#queued <= MAX_QUEUED_REQUESTS / 2) return;
      connection.clearQueue();
      connection.drop();
      this.#onDrop('requests');
    }
  }
}
