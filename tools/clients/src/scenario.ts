/**
 * The results of every program in `programs/`, printed as JSON: it creates Rex with an Idempotency-Key, twice, and four more
 * pets, reads all of them in pages of two, and provokes errors. Integers are their digits.
 */
export interface Outcome {
  /** The first pet as it was returned. */
  readonly created: object;
  /** The same pet, created again with the same Idempotency-Key. */
  readonly repeated: object;
  /** The ids on each page. */
  readonly pages: readonly (readonly string[])[];
  /** Status and code for a bad cursor, a wrong API key, an unknown id, and an Idempotency-Key that was used for another pet. */
  readonly errors: readonly string[];
}

/** @param categoryId Of Rex, in digits. */
export function expectedOutcome(categoryId: string): Outcome {
  const rex = { id: '1', name: 'Rex', categoryId, status: 'available' };
  return {
    created: rex,
    repeated: rex,
    pages: [['1', '2'], ['3', '4'], ['5']],
    errors: ['400 invalid_request', '401 unauthorized', '404 pet_not_found', '422 idempotency_key_reused'],
  };
}

/** Reads what a program has printed. */
export function parseOutcome(output: string): Outcome {
  // Only the digits tell whether a client has rounded.
  const digits = (_name: string, value: unknown, { source }: { source: string }) =>
    typeof value === 'number' ? source : value;
  return JSON.parse(output, digits as (name: string, value: unknown) => unknown) as Outcome;
}
