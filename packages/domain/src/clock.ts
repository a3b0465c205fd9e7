/** Milliseconds since the epoch, now; a clock may be finer than that. */
export type Clock = () => number;

/** Milliseconds since an arbitrary time, to measure durations: unlike a {@link Clock} it is never set back. */
export type MonotonicClock = () => number;
