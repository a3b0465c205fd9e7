import { existsSync, globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const { ALL_TESTS } = process.env;

/** The levels that run beside the tests that need no engine: tools/README.md. */
const levels: readonly unknown[] = [
  undefined,
  ...(ALL_TESTS ? ['release'] : []),
  ...(ALL_TESTS === 'nightly' ? ['nightly'] : []),
];

/** The Vitest projects of each workspace: one, or those that its `vitest.projects.ts` exports. */
async function projects(): Promise<TestProjectInlineConfiguration[]> {
  const workspaces = globSync('{apps,packages,tools}/*/package.json', { cwd: import.meta.dirname })
    .map(dirname)
    .sort();
  const declared = await Promise.all(
    workspaces.map(async (root) => {
      const file = join(import.meta.dirname, root, 'vitest.projects.ts');
      const options: ProjectOptions[] = existsSync(file) ? (await import(pathToFileURL(file).href)).default : [{}];
      const chosen = options.filter(({ level }) => levels.includes(level));
      return chosen.map(({ name, level: _, ...test }) => ({
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
  /** It runs only if ALL_TESTS is set, to `nightly` if it takes over a minute or others wrote it. Absent: always. */
  level?: 'release' | 'nightly';
};

export default defineConfig(async () => ({
  // Workspace packages are tested from their sources: see `exports` in their package.json.
  ssr: { resolve: { conditions: ['@animal-store/source', 'module', 'node', 'development|production'] } },
  test: {
    environment: 'node',
    // At least four, even on one core: most tests wait for something.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    // For what hangs: ten times what a slow and busy machine needs.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    projects: await projects(),
  },
}));
