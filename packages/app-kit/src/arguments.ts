import { ConfigurationError } from './configuration-error.ts';
import { storageVariables } from './storage-settings.ts';
import { readVersion, versionText } from './version.ts';

/**
 * The text that an argument of an application asks for.
 *
 * @throws ConfigurationError if there is no such argument.
 */
export function respondTo(argument: string, name: string, description: string): string {
  if (argument === '--version') return `${name} ${versionText(readVersion(process.env))}\n`;
  if (argument === '--help') return help(name, description);
  throw new ConfigurationError(
    `unexpected argument ${JSON.stringify(argument)}: settings are environment variables, see --help`,
  );
}

function help(name: string, description: string): string {
  const choices = storageVariables.map(([, variable]) => variable).join(' or ');
  return `Usage: ${name} [--help | --version]

${description}

Settings are environment variables. ${choices} says where the animals are.
docs/settings.md has the others.
`;
}
