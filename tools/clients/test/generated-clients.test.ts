import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { Language } from '../src/global-setup.ts';
import { activatePython } from '../src/python.ts';
import { expectedOutcome, parseOutcome } from '../src/scenario.ts';
import { startServiceForClients } from '../src/service.ts';
import { createWorkspace, EXAMPLES, type Workspace } from '../src/workspace.ts';

const INT64_MAX = '9223372036854775807';

const missing = inject('missingLanguages');

interface Client {
  readonly programs: string;
  readonly needs?: readonly Language[];
  /** The scripts of docs/examples that generate it. */
  readonly scripts: readonly string[];
  /** The files of docs/examples that these or the program use. */
  readonly examples?: readonly string[];
  /** The largest category that it reads exactly. */
  readonly categoryId: string;
  /** Prepares the environment of the scripts. */
  prepare?(workspace: Workspace): Promise<NodeJS.ProcessEnv>;
  /** Builds the client with its program, and runs it. */
  start(run: Workspace['run'], environment: NodeJS.ProcessEnv): Promise<string>;
}

const go: Client['start'] = (run, environment) => run('go', ['run', '.'], environment);

const typescript: Client['start'] = async (run, environment) => {
  await run('tsc', ['--project', '.']);
  return run(process.execPath, ['dist/program.js'], environment);
};

const CLIENTS: Readonly<Record<string, Client>> = {
  'openapi-fetch': {
    programs: 'typescript/openapi-fetch',
    scripts: ['openapi-fetch.sh'],
    categoryId: '42',
    start: typescript,
  },
  'Hey API': {
    programs: 'typescript/hey-api',
    scripts: ['hey-api.sh'],
    examples: ['openapi-ts.config.js', 'exact-fetch.ts'],
    categoryId: INT64_MAX,
    start: typescript,
  },
  'openapi-python-client': {
    programs: 'python',
    needs: ['Python'],
    scripts: ['openapi-python-client.sh'],
    categoryId: INT64_MAX,
    prepare: activatePython,
    start: (run, environment) => run('python3', ['program.py'], environment),
  },
  'oapi-codegen': {
    programs: 'go/oapi-codegen',
    needs: ['Go'],
    scripts: ['oapi-codegen.sh'],
    categoryId: INT64_MAX,
    start: go,
  },
  // It generates nothing, but accepts the document, every request and every response.
  'kin-openapi': { programs: 'go/kin-openapi', needs: ['Go'], scripts: [], categoryId: INT64_MAX, start: go },
  'openapi-generator for Go': {
    programs: 'go/openapi-generator',
    needs: ['Java', 'Go'],
    scripts: ['openapi-generator.sh', 'openapi-generator-go.sh'],
    categoryId: INT64_MAX,
    start: go,
  },
  'openapi-generator for Java': {
    programs: 'java',
    needs: ['Java'],
    scripts: ['openapi-generator.sh', 'openapi-generator-java.sh'],
    categoryId: INT64_MAX,
    async start(run, environment) {
      const goals = ['compile', 'dependency:copy-dependencies', '-DoutputDirectory=target/lib'];
      await run('mvn', ['--quiet', '--batch-mode', '--file', 'animals', ...goals]);
      return run('java', ['-cp', 'animals/target/classes:animals/target/lib/*', 'Program'], environment);
    },
  },
  'openapi-generator for TypeScript': {
    programs: 'typescript/openapi-generator',
    needs: ['Java'],
    scripts: ['openapi-generator.sh', 'openapi-generator-typescript.sh'],
    categoryId: '42',
    start: typescript,
  },
};

// Loading packages for the first time takes minutes.
describe('a client generated from the document', { timeout: 600_000 }, () => {
  for (const [name, { programs, needs = [], scripts, examples = [], categoryId, prepare, start }] of Object.entries(
    CLIENTS,
  )) {
    test.skipIf(needs.some((language) => missing.includes(language)))(
      `${name} compiles, creates, pages to the end and reads errors`,
      async () => {
        await using service = await startServiceForClients();
        using workspace = createWorkspace();
        workspace.copyPrograms(programs);
        workspace.write('openapi.json', service.document);
        for (const example of examples) workspace.copyExample(example);
        const environment = (await prepare?.(workspace)) ?? {};
        for (const script of scripts) await workspace.run('sh', ['-eu', join(EXAMPLES, script)], environment);
        const output = await start(workspace.run, { ...environment, ...service.environment });
        expect(parseOutcome(output)).toEqual(expectedOutcome(categoryId));
      },
    );
  }
});
