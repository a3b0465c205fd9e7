export interface ConfigurationErrorOptions {
  /**
   * Whether the machine may come to suit the settings without their change: an address or a file is there later, a port is free
   * again.
   *
   * @default false
   */
  readonly mayPass?: boolean;
}

/** An error in the settings: the environment or the arguments. The message is one line without secrets. */
export class ConfigurationError extends Error {
  readonly mayPass: boolean;

  constructor(message: string, { mayPass = false }: ConfigurationErrorOptions = {}) {
    super(message);
    this.mayPass = mayPass;
  }
}
