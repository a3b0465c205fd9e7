import { invalidRequest } from './domain-error.ts';
import type { NewPet } from './pet.ts';
import { quote } from './quote.ts';

/** The longest idempotency key, in characters. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

/** An idempotency key: 1 to {@link IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN: RegExp = /^[\x21-\x7e]{1,255}$/;

/** Names one intended addition, so that asking twice adds once (draft-ietf-httpapi-idempotency-key-header). */
export interface IdempotencyKey {
  /**
   * Whose key it is, in well-formed Unicode: two holders may use the same characters without meeting. The holders of API keys have
   * names without outer spaces; a caller in the same process takes one with, which nobody can be given a key for: ' orders'.
   */
  readonly holder: string;
  /** Chosen by the client, see {@link IDEMPOTENCY_KEY_PATTERN}. */
  readonly key: string;
}

/** An idempotency key together with the animal it stands for. */
export interface IdempotentCreate extends IdempotencyKey {
  /** The same for the same animal, different for another: see {@link fingerprint}. */
  readonly fingerprint: string;
}

/** @throws DomainError `invalid_request` if the key's characters or length, or the holder's characters, are not allowed. */
export function idempotentCreate({ holder, key }: IdempotencyKey, newPet: NewPet): IdempotentCreate {
  if (!IDEMPOTENCY_KEY_PATTERN.test(key)) {
    throw invalidRequest([
      `the idempotency key must be 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters, was ${quote(key)}`,
    ]);
  }
  // Not every storage can tell two lone surrogates apart, nor two holders.
  if (!holder.isWellFormed()) {
    throw invalidRequest([
      "the name of an idempotency key's holder must be well-formed Unicode, without a lone surrogate",
    ]);
  }
  return { holder, key, fingerprint: fingerprint(newPet) };
}

/** Everything that was asked for, as one string: injective, not a digest, at most some 1,300 characters. */
export function fingerprint({ name, categoryId, status }: Pick<NewPet, 'name' | 'categoryId' | 'status'>): string {
  return JSON.stringify([name, String(categoryId), status ?? null]);
}
