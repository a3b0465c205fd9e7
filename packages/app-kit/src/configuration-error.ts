/** An error in the settings: the environment or the arguments. The message is one line without secrets. */
export class ConfigurationError extends Error {}
