import type { Violations } from '../errors.ts';
import { violation } from '../quote.ts';
import { LIMITS } from './limits.ts';
import { type NewPet, PET_STATUSES } from './pet.ts';

/** Names one intended creation, so that a repeated call creates one pet (draft-ietf-httpapi-idempotency-key-header). */
export interface IdempotencyKey {
  /**
   * Whose key it is: well-formed Unicode without U+0000, no longer than {@link LIMITS} say. Two holders may use the same
   * characters independently. It is the holder of an API key, or {@link holderOf} a program without one.
   */
  readonly holder: string;
  /** Chosen by the client: visible ASCII characters, no more than {@link LIMITS} say. */
  readonly key: string;
}

/**
 * The holder of the idempotency keys of a program that calls the use cases without an API key. No API key can be issued for
 * this holder.
 *
 * @param program Its name, two code points shorter than a holder may be: `orders`.
 */
export function holderOf(program: string): string {
  // Stored with each key: another text would make each repetition another creation.
  return ` ${program} `;
}

/** Holder and key as one string, for maps. A holder may contain any character, a key no space: the first space ends the key. */
export function idempotencyNameOf({ holder, key }: IdempotencyKey): string {
  return `${key} ${holder}`;
}

/** An idempotency key together with the pet it stands for. */
export interface Idempotency extends IdempotencyKey {
  /** The same for the same pet, different for another, no longer than {@link MAX_FINGERPRINT_BYTES}. */
  readonly fingerprint: string;
}

/** The violations of an idempotency key, and of its holder. */
export function idempotencyViolations(given: unknown): Violations {
  if (typeof given !== 'object' || given === null) {
    return { idempotencyKey: violation('the idempotency key must be an object with holder and key', given) };
  }
  const { holder, key } = given as Record<string, unknown>;
  return { idempotencyKey: keyViolation(key), holder: holderViolation(holder) };
}

function keyViolation(key: unknown): string | null {
  const { maxLength, pattern } = LIMITS.idempotencyKey;
  if (typeof key === 'string' && pattern.test(key)) return null;
  return violation(`the idempotency key must be 1 to ${maxLength} visible ASCII characters`, key);
}

function holderViolation(holder: unknown): string | null {
  const { maxLength } = LIMITS.holder;
  // Some storages can't distinguish lone surrogates, or store U+0000.
  const isText = typeof holder === 'string' && holder.isWellFormed() && !holder.includes('\0');
  if (isText && [...holder].length <= maxLength) return null;
  const rule = `at most ${maxLength} code points of well-formed Unicode without U+0000`;
  return violation(`the holder of an idempotency key must be ${rule}`, holder);
}

/**
 * The pet as one string: injective, not a digest. Storages keep it: if another version made another string of the same pet,
 * repetitions would be conflicts.
 */
export function fingerprint(newPet: NewPet): string {
  return jsonOf(MEMBERS.map((member) => newPet[member]));
}

/** The members of a fingerprint in their order: a new one is appended. */
const MEMBERS = Object.keys({ name: 1, categoryId: 2, status: 3 } satisfies Record<
  keyof NewPet,
  number
>) as (keyof NewPet)[];

/** How many members every fingerprint has. Others that are absent at its end are left out, so that older ones stay. */
const MIN_MEMBERS = 3;

/** Exported for tests. */
export function jsonOf(values: readonly unknown[]): string {
  const size = Math.max(MIN_MEMBERS, 1 + values.findLastIndex((value) => value !== undefined));
  return JSON.stringify(values.slice(0, size).map((value) => (typeof value === 'bigint' ? String(value) : value)));
}

/** JSON escapes a control character with 6 bytes, more than any other code point has in UTF-8. */
const LONGEST: Required<NewPet> = {
  name: '\u0001'.repeat(LIMITS.name.maxLength),
  categoryId: LIMITS.categoryId.min,
  status: PET_STATUSES.reduce((longest, status) => (status.length > longest.length ? status : longest)),
};

/** How many bytes of UTF-8 a fingerprint has at most. */
export const MAX_FINGERPRINT_BYTES = fingerprint(LONGEST).length;
