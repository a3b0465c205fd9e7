/** How long each stage of talking to PostgreSQL may take, in milliseconds. */
export type TimeLimits = { readonly [Stage in keyof typeof TIME_LIMITS]: number };

/** The default limits. What the stages take together ends at `call`, before the 5 seconds that a request may take. */
export const TIME_LIMITS = {
  /** One call of a port as a whole: connecting and every statement included. */
  call: 4_000,
  /** Opening a connection, the handshakes of TLS and authentication included, or waiting for one of the pool. */
  connect: 1_000,
  /** The work of a statement on the server, waiting for locks included. */
  statement: 1_500,
  /** The time from sending a statement to its result: its work, the commit and the way back. */
  response: 2_000,
  /** How long reads, insertions and counts wait for others of their kind; then they run beside them. */
  batch: 500,
  /** How long an idle connection stays open. */
  idle: 60_000,
} as const;
