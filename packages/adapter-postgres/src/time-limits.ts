/** In milliseconds. A call ends after 2.2 seconds, and goes on waiting neither for connections nor for tables. */
export const TIME_LIMITS = {
  /** Opening a connection, the handshakes of TLS and authentication included. */
  connect: 4_000,
  /** Creating the tables. */
  create: 4_000,
  /** The wait of a call for a connection. */
  queue: 2_000,
  /** The time in which a call that was led to a read-only server tries others, and its pause before each. */
  elsewhere: 1_500,
  pause: 200,
  /** The work of a statement on the server, waiting for locks included. */
  statement: 1_500,
  /** The time from sending a statement to its result. */
  response: 1_900,
  idle: 60_000,
  /** The age at which a connection is replaced: the new one checks the format and the other state. */
  lifetime: 60_000,
};
