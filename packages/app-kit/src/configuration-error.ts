/** An error in the environment. The message is one line that names every error, and contains no secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** @throws ConfigurationError with all errors, if there are any. */
export function throwIfAny(errors: readonly string[]): void {
  if (errors.length > 0) throw new ConfigurationError(errors.join('; '));
}
