import { ConfigurationError } from './configuration-error.ts';
import { integer, matching } from './settings.ts';

/** Where an application listens. */
export const ADDRESS_VARIABLES = {
  PORT: integer(3000, 0, 65_535),
  HOST: matching('127.0.0.1', /^\S+$/, 'a host name or address'),
};

const REASONS: Readonly<Record<string, (variable: string) => string>> = {
  EADDRINUSE: (variable) => `it is in use; choose another ${variable}`,
  EACCES: (variable) => `this user may not use the port; choose a ${variable} above 1023`,
  EADDRNOTAVAIL: () => 'this machine does not have the address; correct HOST',
  EINVAL: () => 'the address is not complete (fe80::1 needs an interface, like fe80::1%eth0); correct HOST',
  EAFNOSUPPORT: () => 'this machine has no addresses of this family; correct HOST',
  ENOTFOUND: () => 'the name is unknown; correct HOST',
};

/**
 * The configuration error that an error of `listen` shows.
 *
 * @param variable The variable of the port.
 * @returns The error as it is if it shows none.
 */
export function addressError(error: unknown, host: string, port: number, variable = 'PORT'): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
  if (reason === undefined) return error;
  return new ConfigurationError(`can't listen at ${host}, port ${port}: ${reason(variable)}`, { cause: error });
}
