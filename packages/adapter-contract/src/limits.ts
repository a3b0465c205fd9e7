/** How long a call may take at most, in milliseconds: a request makes two, and gets its response within 5 seconds. */
export const CALL_LIMIT = 2_500;

/** Calls at once: more than a pool has connections. */
export const CALLERS = 20;

/** How long `close` may take, in milliseconds. */
export const CLOSE_LIMIT = 5_000;

/** How long a storage may need to work again, in milliseconds, or so many tries: each may be slow on a busy machine. */
export const [RECOVERY_LIMIT, TRIES] = [15_000, 20];
