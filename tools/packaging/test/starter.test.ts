import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freshFolder } from '@animal-store/test-kit/fresh-folder';
import { ROOT, run } from '@animal-store/test-kit/programs';
import { test } from 'vitest';

/** As in vitest.config.ts of the repository: packages from their sources. */
const CONFIGURATION = `export default {
  ssr: { resolve: { conditions: ['@animal-store/source', 'module', 'node', 'development|production'] } },
  test: { testTimeout: 600_000 },
};`;

/** The others take three minutes: outside-adapter.test.ts runs them with the packed packages. */
const WITHOUT_INTERRUPTIONS = '^(?!.*(interruptions|late writes))';

test('the adapter-starter of docs/ passes the contract on the sources of its dependencies', async () => {
  const folder = freshFolder();
  cpSync(join(ROOT, 'docs/adapter-starter'), folder, { recursive: true });
  writeFileSync(join(folder, 'vitest.config.js'), CONFIGURATION);
  const link = (name: string, to: string) => {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(join(ROOT, 'packages', to), join(folder, 'node_modules', name));
  };
  for (const name of ['adapter-contract', 'adapter-kit', 'domain']) link(`@animal-store/${name}`, name);
  for (const name of ['fast-check', 'vitest']) link(name, `adapter-contract/node_modules/${name}`);
  // Also for the other process of the contract.
  const env = { ...process.env, NODE_OPTIONS: '--conditions=@animal-store/source' };
  await run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '-t', WITHOUT_INTERRUPTIONS], {
    cwd: folder,
    env,
  });
});
