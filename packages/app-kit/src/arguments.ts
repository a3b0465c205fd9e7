import { ConfigurationError } from './configuration-error.ts';
import { findStorages } from './find-storages.ts';
import { storageChoices } from './storages.ts';
import { readVersion, versionText } from './version.ts';

/** The text that an argument of an application asks for. Throws ConfigurationError if there is no such argument. */
export async function respondTo(argument: string, name: string, description: string): Promise<string> {
  if (argument === '--version') return `${name} ${versionText(readVersion(process.env))}\n`;
  if (argument === '--help') return help(name, description, storageChoices(await findStorages(process.env)));
  throw new ConfigurationError(
    `unexpected argument ${JSON.stringify(argument)}: settings are environment variables, see --help`,
  );
}

function help(name: string, description: string, choices: string): string {
  return `Usage: ${name} [--help | --version]

${description}

Settings are environment variables. ${choices} says where the animals are.
docs/settings.md has the others.
`;
}
