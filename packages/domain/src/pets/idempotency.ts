import { DomainError } from '../domain-error.ts';
import { quote } from '../quote.ts';
import { LIMITS } from './limits.ts';
import type { NewPet } from './pet.ts';

/** Names one intended creation, so that a repeated call creates one pet (draft-ietf-httpapi-idempotency-key-header). */
export interface IdempotencyKey {
  /**
   * Whose key it is, in well-formed Unicode: two holders may use the same characters independently. Holders of API keys
   * have names without outer spaces; a caller in the same process takes a name with one, like `' orders'`, which no API
   * key can be issued for.
   */
  readonly holder: string;
  /** Chosen by the client: 1 to 255 visible ASCII characters ({@link LIMITS}). */
  readonly key: string;
}

/** An idempotency key of which a transport knows the holder only. */
export interface UncheckedIdempotencyKey {
  /** @see IdempotencyKey.holder */
  readonly holder: string;
  /** As it came from outside. */
  readonly key: unknown;
}

/** An idempotency key together with the pet it stands for. */
export interface IdempotentCreate extends IdempotencyKey {
  /** The same for the same pet, different for another: see {@link fingerprint}. */
  readonly fingerprint: string;
}

/** @throws DomainError `invalid` if the characters or the length of key or holder are not allowed. */
export function idempotentCreate({ holder, key }: UncheckedIdempotencyKey, newPet: NewPet): IdempotentCreate {
  const { maxLength, pattern } = LIMITS.idempotencyKey;
  if (typeof key !== 'string' || !pattern.test(key)) {
    const rule = `the idempotency key must be 1 to ${maxLength} visible ASCII characters`;
    throw new DomainError('invalid', `${rule}, was ${quote(key)}`);
  }
  // Some storages can't distinguish lone surrogates.
  if (typeof holder !== 'string' || !holder.isWellFormed()) {
    throw new DomainError(
      'invalid',
      `the holder of an idempotency key must be well-formed Unicode, was ${quote(holder)}`,
    );
  }
  return { holder, key, fingerprint: fingerprint(newPet) };
}

/** The pet as one string: injective, not a digest, at most some 1,300 characters. */
export function fingerprint({ name, categoryId, status }: NewPet): string {
  return JSON.stringify([name, String(categoryId), status ?? null]);
}
