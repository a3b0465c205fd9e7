import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { DomainError } from '@animal-store/domain';
import type { PetStorage, PortMethod } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { apiKey, idempotencyOf, rex } from './samples.ts';

/** How long a call may take at most, in milliseconds. */
export const CALL_LIMIT = 5_000;

/** Every call of the ports that needs the storage, by name. */
export function everyCall({ pets, keys, ready }: PetStorage) {
  const { id, digest } = apiKey();
  return {
    'pets.add': () => pets.add(rex()),
    'pets.add with an idempotency key': () => pets.add(rex(), idempotencyOf(rex(), 'a lost one')),
    'pets.find': () => pets.find(1n),
    'pets.list': () => pets.list({ after: 0n, limit: 20 }),
    'pets.list by status': () => pets.list({ after: 0n, limit: 20, status: 'sold' }),
    'keys.add': () => keys.add(apiKey()),
    'keys.find': () => keys.find(digest),
    'keys.list': () => keys.list(),
    'keys.revoke': () => keys.revoke(id, 1),
    'keys.prune': () => keys.prune(1),
    'keys.recordUse': () => keys.recordUse(id, 1),
    ready: () => ready(),
  } satisfies Record<PortMethod, () => unknown> & Record<string, () => unknown>;
}

export type CallName = keyof ReturnType<typeof everyCall>;

/** The DomainError that a call throws or rejects with, null if it returns. It must end within 5 seconds. */
export async function failureOf(call: () => unknown): Promise<DomainError | null> {
  try {
    const tooLate = sleep(CALL_LIMIT, `the call did not end within ${CALL_LIMIT} ms`, { ref: false });
    await Promise.race([call(), tooLate.then((message) => Promise.reject(new Error(message)))]);
    return null;
  } catch (error) {
    if (!DomainError.is(error)) throw error;
    return error;
  }
}

/** Expects `storage_unavailable` with a message for clients. */
export function expectUnavailable(failure: DomainError | null, { location }: Pick<PetStorage, 'location'>): void {
  expect(failure).toMatchObject({ code: 'storage_unavailable' });
  const { message } = failure as DomainError;
  // No path, address or code of an error.
  expect(message).toMatch(/^[a-zA-Z ,.:;()'-]+$/);
  expect(message).not.toMatch(/[A-Z]{2}|[.:]\S/);
  for (const part of location.split(/[/:,]/)) if (part.length > 3) expect(message).not.toContain(part);
  for (let { cause } = failure as Error; cause instanceof Error; cause = cause.cause) {
    expect(message).not.toContain(cause.message);
  }
}

/** Expects no secret in a value as a log shows it, with the causes of an error. */
export function expectNoSecret(secrets: readonly string[] = [], value: unknown): void {
  const text = inspect(value, { depth: 10, maxStringLength: null });
  for (const secret of secrets) expect(text.includes(secret), `a secret in ${text}`).toBe(false);
}
