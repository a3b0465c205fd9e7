/** How long each stage of a call may take, in milliseconds. All together end before the 5 seconds of a request. */
export const TIME_LIMITS = {
  /** A read, while another process holds a lock. */
  read: 3_000,
  /** A write, until its transaction begins: the queue and locks. After that it is never made. */
  wait: 3_000,
  /** A write as a whole. After that it is not known whether it will be committed. */
  write: 4_000,
  /** Closing, however slow the disk is. */
  close: 4_800,
  /** The writer thread, while another process holds the lock, before it replies. */
  lock: 100,
  /** The first pause of the writer thread between two tries while another process holds the lock. The next ones double. */
  lockRetryMin: 0.5,
  /** Its longest pause. */
  lockRetryMax: 5,
  /** The pause of a call between two tries while another process holds a lock. */
  retry: 10,
  /** The time between two checks for overdue writes. */
  overdueCheck: 250,
} as const;
