import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkRequirements } from '@animal-store/test-kit/not-run';
import { run } from '@animal-store/test-kit/programs';
import type { TestProject } from 'vitest/node';
import { folderOf, libraries, PACKAGES, packAll, readManifest, tarball } from './packages.ts';
import { installRuntimes, RUNTIMES } from './runtimes.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of a project that depends on the packed packages. It contains the tarballs, too. */
    consumer: string;
  }
}

const checkRuntimes = checkRequirements(
  Object.fromEntries(
    RUNTIMES.map(({ name, command: [program] }) => [
      name,
      {
        tests: `the tests of the packages in ${name}`,
        whyMissing: () => (existsSync(program) ? null : 'this platform lacks it'),
        remedy: 'They run on Linux (x64), which downloads these programs, half a gigabyte when they are installed.',
      },
    ]),
  ),
);

/** Packs the packages and installs them in a project outside of the repository. */
export default async function setup(project: TestProject): Promise<() => void> {
  installRuntimes();
  const report = await checkRuntimes(project);
  const consumer = mkdtempSync(join(tmpdir(), 'animal-store-consumer-'));
  const remove = () => rmSync(consumer, { recursive: true, force: true });
  try {
    await packAll(consumer);
    await install(consumer);
  } catch (error) {
    remove();
    throw error;
  }
  project.provide('consumer', consumer);
  return () => {
    remove();
    report();
  };
}

async function install(consumer: string): Promise<void> {
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  const hasLibraries = (name: string): boolean => {
    const manifest = readManifest(folderOf(name));
    const packages = Object.keys(manifest.dependencies ?? {}).filter((needed) => needed.startsWith('@animal-store/'));
    return libraries(manifest).length > 0 || packages.some((needed) => hasLibraries(needed.slice(14)));
  };
  // --offline: the tarballs contain everything that these packages need.
  const selfContained = PACKAGES.filter((name) => !hasLibraries(name)).map((name) => `./${tarball(name)}`);
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...selfContained], { cwd: consumer });
  // The others get the libraries that are installed in this repository, without a registry.
  for (const name of PACKAGES.filter(hasLibraries)) {
    const folder = join(consumer, 'node_modules/@animal-store', name);
    mkdirSync(folder, { recursive: true });
    await run('tar', ['-xzf', tarball(name), '--strip-components=1', '-C', folder], { cwd: consumer });
    for (const library of libraries(readManifest(folderOf(name)))) {
      const link = join(consumer, 'node_modules', library);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(folderOf(name), 'node_modules', library), link);
    }
  }
}
