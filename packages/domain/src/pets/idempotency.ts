import { quote } from '../quote.ts';
import { LIMITS } from './limits.ts';
import type { NewPet } from './pet.ts';

/** Names one intended creation, so that a repeated call creates one pet (draft-ietf-httpapi-idempotency-key-header). */
export interface IdempotencyKey {
  /**
   * Whose key it is: 0 to 100 code points of well-formed Unicode. Two holders may use the same characters independently.
   * Holders of API keys have names without outer spaces; a caller in the same process takes a name with one, like
   * `' orders'`, which no API key can be issued for.
   */
  readonly holder: string;
  /** Chosen by the client: 1 to 255 visible ASCII characters ({@link LIMITS}). */
  readonly key: string;
}

/** An idempotency key of which a transport knows the holder only. */
export interface GivenIdempotencyKey {
  /** @see IdempotencyKey.holder */
  readonly holder: string;
  /** Unchecked. */
  readonly key: unknown;
}

/** An idempotency key together with the pet it stands for. */
export interface Idempotency extends IdempotencyKey {
  /** The same for the same pet, different for another: see {@link fingerprint}. */
  readonly fingerprint: string;
}

export function idempotencyKeyViolation({ key }: GivenIdempotencyKey): string | null {
  const { maxLength, pattern } = LIMITS.idempotencyKey;
  if (typeof key === 'string' && pattern.test(key)) return null;
  return `the idempotency key must be 1 to ${maxLength} visible ASCII characters, was ${quote(key)}`;
}

export function idempotencyHolderViolation({ holder }: { readonly holder: unknown }): string | null {
  const { maxLength } = LIMITS.holder;
  // Some storages can't distinguish lone surrogates.
  if (typeof holder !== 'string' || !holder.isWellFormed()) {
    return `the holder of an idempotency key must be well-formed Unicode, was ${quote(holder)}`;
  }
  const { length } = [...holder];
  if (length <= maxLength) return null;
  return `the holder of an idempotency key must be at most ${maxLength} characters (Unicode code points), was ${length}`;
}

export function idempotencyOf({ holder, key }: IdempotencyKey, newPet: NewPet): Idempotency {
  return { holder, key, fingerprint: fingerprint(newPet) };
}

/** The pet as one string: injective, not a digest, at most some 1,300 characters. */
export function fingerprint({ name, categoryId, status }: NewPet): string {
  return JSON.stringify([name, String(categoryId), status ?? null]);
}
