/** The environment is wrong. The message is one line that names every error in it, and holds no secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** @throws ConfigurationError with all errors, if there are any. */
export function throwIfAny(errors: readonly string[]): void {
  if (errors.length > 0) throw new ConfigurationError(errors.join('; '));
}
