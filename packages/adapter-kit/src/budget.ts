/** The time in which a request gets its response. It makes two calls at most: one of them finds the API key. */
const REQUEST = 5_000;

/** Between a limit and the next inner one, so that the inner one is reported first, on a busy machine, too. */
const STEP = 300;

const CALL = REQUEST / 2 - STEP;

/** Limits in milliseconds, each derived from the time of a request. The first four are from outside in. */
export const BUDGET = {
  /** A call of a port, as its caller waits for it. */
  call: CALL,
  /** What an adapter waits for in a call: a free connection, a response, a batch. */
  driver: CALL - STEP,
  /** The work of the server on a statement. */
  server: CALL - 2 * STEP,
  /** The wait for a lock of another process. */
  lock: CALL - 3 * STEP,

  /** What a call has left after `driver`: for asking the server what a statement waits for. */
  rest: STEP,

  /** Connecting to a server. It goes on when the calls that wait for it have given up, and ends before `close` must have. */
  connect: REQUEST - 1_000,
  /** Opening a storage: it connects, then prepares the database. */
  open: 2 * REQUEST,
} as const;
