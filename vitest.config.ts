import { existsSync, globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/** The Vitest projects of each workspace: one, or those that its `vitest.projects.ts` exports. */
async function projects(): Promise<TestProjectInlineConfiguration[]> {
  const workspaces = globSync('{apps,packages,tools}/*/package.json', { cwd: import.meta.dirname })
    .map(dirname)
    .sort();
  const declared = await Promise.all(
    workspaces.map(async (root) => {
      const file = join(import.meta.dirname, root, 'vitest.projects.ts');
      const options: ProjectOptions[] = existsSync(file) ? (await import(pathToFileURL(file).href)).default : [{}];
      const chosen = options.filter(({ release }) => !release || process.env['ALL_TESTS']);
      return chosen.map(({ name, release: _, ...test }) => ({
        extends: true,
        root,
        test: { include: ['{src,test}/**/*.test.ts'], ...test, name: name === undefined ? root : `${root} ${name}` },
      }));
    }),
  );
  return declared.flat();
}

/** The options of a Vitest project. */
export type ProjectOptions = Omit<NonNullable<TestProjectInlineConfiguration['test']>, 'name'> & {
  /** Follows the folder of the workspace: 'on MongoDB'. */
  name?: string;
  /** Whether it belongs to a release: it runs only if ALL_TESTS is set. */
  release?: boolean;
};

export default defineConfig(async () => ({
  // Workspace packages are tested from their sources: see `exports` in their package.json.
  ssr: { resolve: { conditions: ['@animal-store/source', 'module', 'node', 'development|production'] } },
  test: {
    environment: 'node',
    // At least four, even on one core: most tests wait for something.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    // Limits for a test that hangs. A busy machine may be several times slower than a quiet one.
    testTimeout: 60_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 15_000 } },
    projects: await projects(),
  },
}));
