import { expect } from 'vitest';
import { DomainError } from '../src/domain-error.ts';

/** The error that a call ends with, as its code and its message; it may be thrown or be a rejection. */
export async function refusalOf(call: () => unknown): Promise<{ code: string; message: string }> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    const { code, message } = error as DomainError;
    return { code, message };
  }
  throw new Error('it was not refused');
}
