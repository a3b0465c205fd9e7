import { Long } from 'mongodb';

/**
 * Options of a database whose int64 are read as Long, whatever the client's are. They apply to errors, too: with
 * `useBigInt64` an error about a change of the server's state makes the driver's monitor throw outside of any call, which
 * ends the process (`makeTopologyVersion`, mongodb 7.8).
 */
export const INT64_AS_LONG = { promoteLongs: false, useBigInt64: false } as const;

/** An int64 of a document that was read as Long. The types of documents have bigint, as they are written. */
export function int64Of(read: bigint | Long): bigint {
  return Long.isLong(read) ? read.toBigInt() : read;
}
