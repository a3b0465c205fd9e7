/** How long each stage of talking to MongoDB may take, in milliseconds. */
export interface TimeLimits {
  /** One call of a port as a whole: connecting, every stage and the driver's retries included. */
  readonly call: number;
  /** Finding a server that can serve the call: the primary, through an election. */
  readonly serverSelection: number;
  /** Opening a socket, the handshakes of TLS and authentication included. */
  readonly connect: number;
  /** Waiting for a free connection of the pool. */
  readonly queue: number;
  /** Silence on a socket while a response is due. */
  readonly socket: number;
  /** The work on the server, and the wait for the majority of its members. */
  readonly operation: number;
  /** How long reads, insertions and counts wait for others of their kind; then they run beside them. */
  readonly batch: number;
  /** The time between two checks of a server. A silent server is dropped after this and `connect` together. */
  readonly heartbeat: number;
}

/**
 * The default limits. A stage that exceeds its own ends. What the stages take together (the driver tries twice) ends at
 * `call`, before the 5 seconds that a request may take.
 */
export const TIME_LIMITS: TimeLimits = {
  call: 4_000,
  serverSelection: 2_000,
  connect: 1_000,
  queue: 1_000,
  socket: 2_000,
  operation: 1_500,
  batch: 500,
  heartbeat: 2_000,
};
