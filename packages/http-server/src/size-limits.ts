/** The request target, and the names and values of the header fields, must be shorter in total; in bytes. */
export const MAX_HEADER_SIZE = 16 * 1024;

/** An unread body of at most this length is awaited after its response, so that the connection can be used again; in bytes. */
export const MAX_AWAITED_BODY = 1024 * 1024;

/**
 * The number of requests of all connections that may wait for others; above it the connections on which most wait are
 * dropped. A request takes some kilobytes, and a client can send thousands of them in one packet train.
 */
export const MAX_QUEUED_REQUESTS = 20_000;

/** Other connections are served after this many chunks of a body. A chunk can be one byte long. */
export const CHUNKS_BEFORE_YIELD = 100;
