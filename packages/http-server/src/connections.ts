import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Connection } from './connection.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { Limits } from './limits.ts';
import type { OutgoingResponse } from './outgoing-response.ts';
import { FairScheduler } from './reading.ts';
import type { Rejection } from './rejection.ts';
import type { RenderedRejection } from './rejection-text.ts';

/**
 * At most so many requests of all connections may wait for others on their connection; otherwise those connections are dropped
 * on which most wait. A request takes some kilobytes, and a client can send thousands of them in one packet train.
 */
const WAITING_MAX = 20_000;

/** Why a connection is dropped: there are too many, or it sent too many requests without waiting for responses. */
export const DROP_REASONS = ['connections', 'requests'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Where a rejection comes from. */
export interface Rejected {
  /** null for bytes that are no request. */
  readonly request: IncomingMessage | null;
  readonly socket: Socket;
}

/** Responds to a request. */
export type Listener = (request: IncomingRequest, response: OutgoingResponse) => void;

/** Renders the response to a request that the listener does not get. Called once for each. */
export type RenderRejection = (rejection: Rejection, from: Rejected) => RenderedRejection;

/** What a server does for each of its connections. */
export interface Serving {
  readonly listener: Listener;
  readonly renderRejection: RenderRejection;
  readonly onDrop: (reason: DropReason) => void;
  readonly limits: Limits;
}

/** The open connections of a server. */
export class Connections {
  readonly listener: Serving['listener'];
  readonly renderRejection: Serving['renderRejection'];
  readonly limits: Limits;
  readonly scheduler = new FairScheduler();
  readonly #onDrop: Serving['onDrop'];
  readonly #open = new Set<Connection>();
  #waiting = 0;
  #lastActivityAt = Number.NEGATIVE_INFINITY;
  #isStopping = false;
  #closesIdle = false;

  constructor({ listener, renderRejection, onDrop, limits }: Serving) {
    this.listener = listener;
    this.renderRejection = renderRejection;
    this.#onDrop = onDrop;
    this.limits = limits;
  }

  /** Whether each response closes its connection. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Whether a connection closes as soon as it is idle. */
  get closesIdle(): boolean {
    return this.#closesIdle;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * When a connection was opened or a request arrived last: on the clock of `performance.now()`, in milliseconds.
   */
  get lastActivityAt(): number {
    return this.#lastActivityAt;
  }

  noteActivity(): void {
    this.#lastActivityAt = performance.now();
  }

  add(socket: Socket): void {
    this.noteActivity();
    const connection = new Connection(socket, this);
    this.#open.add(connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      connection.forgetWaiting();
    });
  }

  countWaiting(change: number): void {
    this.#waiting += change;
    if (this.#waiting <= WAITING_MAX) return;
    this.#dropHeaviest();
    // What others have sent would be parsed at once, before the memory of those that were dropped is free.
    for (const connection of this.#open) connection.yieldToOthers();
  }

  /** From now on each response closes its connection. */
  beginStop(): void {
    this.#isStopping = true;
  }

  /** Closes idle connections, and the others when they are idle. */
  closeIdle(): void {
    this.#closesIdle = true;
    for (const connection of this.#open) connection.closeIfIdle();
  }

  /** Closes all connections at once, also those with requests in flight. @returns How many there were. */
  dropAll(): number {
    const { size } = this.#open;
    for (const connection of this.#open) connection.drop();
    return size;
  }

  #dropHeaviest(): void {
    const heaviest = [...this.#open].sort((one, other) => other.waiting - one.waiting);
    for (const connection of heaviest) {
      if (this.#waiting <= WAITING_MAX / 2) return;
      connection.forgetWaiting();
      connection.drop();
      this.#onDrop('requests');
    }
  }
}
