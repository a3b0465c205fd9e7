import { Long } from 'mongodb';

/** An int64 of a document that the driver has read with `promoteLongs: false`; documents declare it as bigint. */
export function int64Of(read: bigint | Long): bigint {
  return Long.isLong(read) ? read.toBigInt() : read;
}
