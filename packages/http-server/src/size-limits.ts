/** The request target, and the names and values of the header fields, must be shorter in total; in bytes. */
export const MAX_HEADER_SIZE = 16 * 1024;

/** An unread body of at most this length is awaited after its response, so that the connection can be used again; in bytes. */
export const MAX_AWAITED_BODY = 1024 * 1024;

/**
 * At most so many requests of all connections may wait for others on their connection; otherwise those connections are dropped
 * on which most wait. A request takes some kilobytes, and a client can send thousands of them in one packet train.
 */
export const MAX_QUEUED_REQUESTS = 20_000;

/** After so many chunks of a body other connections are served: Node hands over each chunk, which can be one byte long. */
export const CHUNKS_BEFORE_YIELD = 100;
