import { readFileSync } from 'node:fs';

/** The build of Animal Store that runs. */
export interface Version {
  /** The version of the published packages: a release gives it to all of them. */
  readonly version: string;
  /** The commit; absent unless the container image names it. */
  readonly revision?: string;
}

/** @param environment REVISION is set by the container image. */
export function readVersion({ REVISION }: NodeJS.ProcessEnv): Version {
  const manifest = new URL('../package.json', import.meta.resolve('@animal-store/domain'));
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return !REVISION || REVISION === 'unknown' ? { version } : { version, revision: REVISION };
}

/** @returns `1.2.0 (revision 0a1b2c3)`. */
export function versionText({ version, revision }: Version): string {
  return revision === undefined ? version : `${version} (revision ${revision})`;
}
