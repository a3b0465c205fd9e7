import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { IncomingRequest } from './incoming-request.ts';
import type { OutgoingResponse } from './outgoing-response.ts';
import type { Rejection } from './rejection.ts';
import type { TimeLimits } from './time-limits.ts';

/** Responds to a request. After a response with `Connection: close` no further request of its connection is served. */
export type Listener = (request: IncomingRequest, response: OutgoingResponse) => void;

/** The source of a rejection. */
export interface Rejected {
  /** null for bytes that are no request. */
  readonly request: IncomingMessage | null;
  readonly socket: Socket;
}

/** A rendered rejection: header fields, without Content-Length, Date and Connection, and the body. */
export interface RenderedRejection {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Renders the response to a request that the listener does not get. Called once for each. */
export type RenderRejection = (rejection: Rejection, from: Rejected) => RenderedRejection;

/** Why a connection is dropped: there are too many, or it sent too many requests without waiting for responses. */
export const DROP_REASONS = ['connections', 'requests'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** The options of a server. */
export interface ServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** How many clients can be connected at once; further connections are closed at once. */
  readonly maxConnections: number;
  readonly renderRejection: RenderRejection;
  readonly onDrop?: (reason: DropReason) => void;
  readonly timeLimits?: Partial<TimeLimits>;
}

/** A server that listens. */
export interface RunningServer {
  readonly address: AddressInfo;

  /** When a connection was opened or a request arrived last, on the clock of `performance.now()`, in milliseconds. */
  readonly lastActivityAt: number;

  /**
   * Stops in three steps. During the grace the server still accepts connections, and each response closes its connection.
   * The grace ends early after 0.75 s without a new connection or request, at once if no connection is open and nothing came
   * in the last 0.75 s. Then the server stops listening, and closes idle connections. At the deadline it closes the rest.
   *
   * @param times.grace In milliseconds.
   * @param times.deadline How long requests may take after the grace, in milliseconds.
   * @param times.probes A server for health checks. While they arrive, the grace does not end early.
   * @returns How many connections were closed at the deadline.
   */
  stop(times: { grace: number; deadline: number; probes?: RunningServer | undefined }): Promise<number>;
}
