// How a call may fail.

import { inspect } from 'node:util';
import { DomainError } from '@animal-store/domain';
import { type Storage, StorageMisconfigured } from '@animal-store/domain/ports';
import { expect } from 'vitest';
import { failureOf, repeated } from './calls.ts';
import { callBy, isOfArchive, METHODS } from './methods.ts';

/** Expects that a call failed as `storage_unavailable`, with a message for clients. */
export function expectUnavailable(name: string, failure: Error | null, { location }: Pick<Storage, 'location'>): void {
  expect(failure ?? 'no error', name).toMatchObject({ code: 'storage_unavailable' });
  expect(failure, name).toSatisfy(DomainError.is);
  const { message } = failure as DomainError;
  const rule = `the message of ${name} is for clients, without a path, address, code or cause`;
  expect(message, rule).toMatch(/^[a-zA-Z ,.:;()'-]+$/);
  expect(message, rule).not.toMatch(/[A-Z]{2}|[.:]\S/);
  for (const part of location.split(/[/:,]/)) if (part.length > 3) expect(message, rule).not.toContain(part);
  for (let { cause } = failure as Error; cause instanceof Error; cause = cause.cause) {
    expect(message, rule).not.toContain(cause.message);
  }
}

/** Expects that no failure in an outage which passes says that settings must change: a process that starts would end. */
export function expectNoMisconfiguration({ cause }: Error): void {
  if (StorageMisconfigured.is(cause))
    expect(cause.message, 'a StorageMisconfigured although the outage will pass').toBe('');
}

/** Expects no secret in a value as a log shows it, with the causes of an error, also not as a part of what is encoded there. */
export function expectNoSecret(secrets: readonly string[] = [], value: unknown): void {
  const text = inspect(value, { depth: 10, maxStringLength: null });
  // `Basic …` has a user, too, and a token of the JWT kind has three parts.
  const decoded = text.match(/[\w+/-]{8,}/g)?.map((part) => Buffer.from(part, 'base64').toString()) ?? [];
  // As a Buffer is shown.
  const bytes =
    text.match(/(?:[\da-f]{2} ?){4,}/gi)?.map((part) => Buffer.from(part.replaceAll(' ', ''), 'hex').toString()) ?? [];
  const unescaped = text.replace(/(?:%[\da-f]{2})+/gi, (escaped) =>
    Buffer.from(escaped.replaceAll('%', ''), 'hex').toString(),
  );
  for (const secret of secrets)
    for (const each of [text, unescaped, ...decoded, ...bytes])
      expect(each.includes(secret), `a secret in ${text}`).toBe(false);
}

/**
 * Waits until a storage works, after an outage or among many.
 *
 * @param call Shows it: `ready`.
 * @param limit In milliseconds.
 * @param passes Whether no failure may say that settings must change.
 */
export async function recovered(call: () => Promise<unknown>, limit?: number, passes = false): Promise<void> {
  const mayRepeat = (failure: unknown) => {
    if (passes) expectNoMisconfiguration(failure as Error);
    return true;
  };
  await repeated(call, mayRepeat, limit);
}

/** The failures of every call that needs a storage, all at the same time, by their names. */
export function failuresOf(storage: Storage): Promise<readonly (readonly [name: string, failure: Error | null])[]> {
  const methods = METHODS.filter((name) => storage.archive || !isOfArchive(name));
  const calls = methods.map((name) => [name, () => callBy(storage, name)] as const);
  const all = [...calls, ['ready', () => storage.ready()] as const];
  return Promise.all(all.map(async ([name, call]) => [name, await failureOf(call)] as const));
}
