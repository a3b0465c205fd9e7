import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { activatePython } from '../src/python.ts';
import { expectedOutcome, parseOutcome } from '../src/scenario.ts';
import { startService } from '../src/service.ts';
import { createWorkspace, EXAMPLES, type Workspace } from '../src/workspace.ts';

const INT64_MAX = '9223372036854775807';

const missing = inject('missingLanguages');

/** Generates a client, builds it and its program, and returns what the program prints. */
async function tryClient(
  { scripts, programs }: { scripts: readonly string[]; programs: string },
  start: (run: Workspace['run'], environment: NodeJS.ProcessEnv) => Promise<string>,
  prepare: (workspace: Workspace) => Promise<NodeJS.ProcessEnv> = async () => ({}),
) {
  await using service = await startService();
  using workspace = createWorkspace();
  workspace.copyPrograms(programs);
  workspace.write('openapi.json', service.document);
  const environment = await prepare(workspace);
  for (const name of scripts) await workspace.run('sh', ['-eu', join(EXAMPLES, name)], environment);
  return parseOutcome(await start(workspace.run, { ...environment, ...service.environment }));
}

// Loading packages for the first time takes minutes.
describe('a client generated from the document', { timeout: 600_000 }, () => {
  test.skipIf(missing.includes('Python'))(
    'openapi-python-client creates, pages to the end and reads errors',
    async () => {
      const outcome = await tryClient(
        { scripts: ['openapi-python-client.sh'], programs: 'python' },
        (run, environment) => run('python3', ['program.py'], environment),
        activatePython,
      );
      expect(outcome).toEqual(expectedOutcome(INT64_MAX));
    },
  );

  test.skipIf(missing.includes('Go'))('oapi-codegen compiles, creates, pages to the end and reads errors', async () => {
    const outcome = await tryClient({ scripts: ['oapi-codegen.sh'], programs: 'go/oapi-codegen' }, (run, environment) =>
      run('go', ['run', '.'], environment),
    );
    expect(outcome).toEqual(expectedOutcome(INT64_MAX));
  });

  test.skipIf(missing.includes('Go'))(
    'kin-openapi accepts the document, every request and every response',
    async () => {
      const outcome = await tryClient({ scripts: [], programs: 'go/kin-openapi' }, (run, environment) =>
        run('go', ['run', '.'], environment),
      );
      expect(outcome).toEqual(expectedOutcome(INT64_MAX));
    },
  );

  test.skipIf(missing.includes('Java') || missing.includes('Go'))(
    'openapi-generator for Go compiles, creates, pages to the end and reads errors',
    async () => {
      const outcome = await tryClient(
        { scripts: ['openapi-generator.sh', 'openapi-generator-go.sh'], programs: 'go/openapi-generator' },
        (run, environment) => run('go', ['run', '.'], environment),
      );
      expect(outcome).toEqual(expectedOutcome(INT64_MAX));
    },
  );

  test.skipIf(missing.includes('Java'))(
    'openapi-generator for Java compiles, creates, pages to the end and reads errors',
    async () => {
      const outcome = await tryClient(
        { scripts: ['openapi-generator.sh', 'openapi-generator-java.sh'], programs: 'java' },
        async (run, environment) => {
          const goals = ['compile', 'dependency:copy-dependencies', '-DoutputDirectory=target/lib'];
          await run('mvn', ['--quiet', '--batch-mode', '--file', 'animals', ...goals]);
          return run('java', ['-cp', 'animals/target/classes:animals/target/lib/*', 'Program'], environment);
        },
      );
      expect(outcome).toEqual(expectedOutcome(INT64_MAX));
    },
  );

  test.skipIf(missing.includes('Java'))(
    'openapi-generator for TypeScript compiles, creates, pages to the end and reads errors',
    async () => {
      const outcome = await tryClient(
        {
          scripts: ['openapi-generator.sh', 'openapi-generator-typescript.sh'],
          programs: 'typescript/openapi-generator',
        },
        async (run, environment) => {
          await run('tsc', ['--project', '.']);
          return run(process.execPath, ['dist/program.js'], environment);
        },
      );
      expect(outcome).toEqual(expectedOutcome('42'));
    },
  );
});
