const KEY_MAX_LENGTH = 255;
const PAGE_MAX = 100;

/** The ranges of what the catalogue accepts and returns. */
export const LIMITS = {
  name: {
    /** In Unicode code points. */
    maxLength: 200,
    /**
     * A name has a character that is not white space, as ECMAScript's `\s` defines it. Spelt out, because schemas repeat it
     * and `\S` means other characters in other languages.
     */
    pattern: /[^\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/,
  },
  /** A signed 64-bit integer. */
  categoryId: { min: -(2n ** 63n), max: 2n ** 63n - 1n },
  /** Ids that can be asked for. Storages assign fewer, which fit into a double. */
  id: { min: 1n, max: 2n ** 63n - 1n, maxAssigned: 2n ** 53n - 1n },
  /** Items of a page, and of what a use case reads of a repository: one more, which shows that another page follows. */
  page: { min: 1, max: PAGE_MAX, default: 20, maxRead: PAGE_MAX + 1 },
  /** In milliseconds since the epoch: the range of a Date. */
  time: { min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 },
  /** Of idempotency keys and of API keys, in Unicode code points. */
  holder: { maxLength: 100 },
  /** Visible ASCII characters. */
  idempotencyKey: { maxLength: KEY_MAX_LENGTH, pattern: new RegExp(`^[\\x21-\\x7e]{1,${KEY_MAX_LENGTH}}$`) },
} as const;

/** Whether a value is a number without a fraction, `min` and `max` included. */
export function isIntegerFrom(min: number, max: number, value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}
