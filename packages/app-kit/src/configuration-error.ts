/** An error in the environment. The message is one line that names every error, and contains no secret. */
export class ConfigurationError extends Error {}
