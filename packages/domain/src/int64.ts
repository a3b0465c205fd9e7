/** The smallest signed 64-bit integer, -2^63. */
export const INT64_MIN: bigint = -(2n ** 63n);

/** The largest signed 64-bit integer, 2^63 - 1. */
export const INT64_MAX: bigint = 2n ** 63n - 1n;
