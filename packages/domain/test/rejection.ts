import { expect } from 'vitest';
import { DomainError } from '../src/errors.ts';

/** The code and the message of the DomainError that a call throws or rejects with. */
export async function rejectionOf(call: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    const { code, message } = error as DomainError;
    return { code, message };
  }
  throw new Error('it did not throw');
}
