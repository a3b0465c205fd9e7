import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { callsTo, type Service, startService } from '@animal-store/test-kit/service';
import { describe, expect, inject, test } from 'vitest';
import type { Language } from '../src/global-setup.ts';
import { createWorkspace, EXAMPLES, installPythonPackages, type Workspace } from '../src/workspace.ts';
import { FAILURE_COUNT, startUnreliableProxy } from './unreliable-proxy.ts';

const testIn = (needs?: Language) => test.skipIf(needs !== undefined && inject('missing').includes(needs));

/** Prepares the environment of an example, runs it, and returns its output. */
async function runExample(name: string, environment: Service['environment']): Promise<string> {
  using workspace = createWorkspace();
  const { folder, run } = workspace;
  // A program in Java begins with the commands that load its library and run it.
  const lines = [...readFileSync(join(folder, name), 'utf8').matchAll(/^\/\/ (?:mvn|java) .*$/gm)];
  const java = lines.map(([line]) => line.slice(3).replace(/^mvn .*/, '$& --quiet --batch-mode >&2')).join('\n');
  const commands: Readonly<Record<string, readonly [string, ...string[]]>> = {
    '.js': [process.execPath, name],
    '.ts': [process.execPath, name],
    '.py': ['python3', name],
    '.sh': ['sh', '-eu', name],
    '.go': ['go', 'run', name],
    '.java': ['sh', '-euc', java],
  };
  if (extname(name) === '.py') await installPythonPackages(workspace);
  const [program, ...words] = commands[extname(name)] as [string, ...string[]];
  return await run(program, words, environment);
}

/** The examples that show one thing, and what a service and each of them must do. */
interface Topic {
  readonly files: Readonly<Record<string, Language | undefined>>;
  /** @param run Runs the example, by default with the variables of the service. */
  check(run: (environment?: Service['environment']) => Promise<string>, service: Service): Promise<void>;
}

const storedIn = async ({ url }: Service) => (await callsTo(url).call('/v1/pets')).text();

const TOPICS: Readonly<Record<string, Topic>> = {
  'keeps all digits in': {
    files: { 'int64.js': undefined, 'int64.py': 'Python', 'int64.go': 'Go', 'Int64.java': 'Java' },
    async check(run, service) {
      expect(await run()).toBe('9223372036854775807\n');
      expect(await storedIn(service)).toBe('[{"id":1,"name":"Rex","categoryId":9223372036854775807}]');
    },
  },
  'reads every page in': {
    files: { 'pages.js': undefined, 'pages.py': 'Python', 'openapi-fetch.ts': undefined },
    async check(run, service) {
      const { add } = callsTo(service.url);
      for (let count = 0; count < 250; count += 1) await add('Rex');
      expect(await run()).toBe('250\n');
    },
  },
  'creates one pet in spite of lost responses and errors in': {
    files: { 'retries.js': undefined, 'retries.py': 'Python' },
    async check(run, service) {
      await using proxy = await startUnreliableProxy(service.environment.BASE_URL);
      expect(await run({ ...service.environment, BASE_URL: proxy.url })).toBe(
        '201 {"id":1,"name":"Rex","categoryId":42}\n',
      );
      expect(await storedIn(service)).toBe('[{"id":1,"name":"Rex","categoryId":42}]');
      const waits = proxy.arrivals.slice(1).map((arrival, index) => arrival - (proxy.arrivals[index] as number));
      expect(waits).toHaveLength(FAILURE_COUNT);
      // The pauses of Retry-After in the responses with 503 and 429; a date has no fractions of a second.
      for (const wait of waits.slice(2, 5)) expect(wait).toBeGreaterThanOrEqual(990);
      const rejected = await run({ ...service.environment, API_KEY: 'a-key-of-somebody' });
      expect(rejected).toMatch(/^401 .*"code":"unauthorized"/);
      const many = '9'.repeat(400);
      const pauses = [`Mon, 01 Jan ${many} 00:00:00 GMT`, many].map((retryAfter) => () => ({
        status: 503,
        retryAfter,
      }));
      await using other = await startUnreliableProxy(service.environment.BASE_URL, pauses);
      await expect(run({ ...service.environment, BASE_URL: other.url })).rejects.toThrow(/Error: 503 \{\}/);
      expect(other.arrivals).toHaveLength(2);
    },
  },
};

interface Client {
  /** The folder of its program in `programs/`. */
  readonly language: string;
  readonly needs?: Language;
  /** The largest category that it reads exactly. */
  readonly categoryId: string;
  prepare?(workspace: Workspace): Promise<void>;
  /** Builds the client with its program, and runs it. */
  start(run: Workspace['run'], environment: NodeJS.ProcessEnv): Promise<string>;
}

const INT64_MAX = '9223372036854775807';

/** The clients by the script of docs/examples that generates them. */
const CLIENTS: Readonly<Record<string, Client>> = {
  'openapi-fetch.sh': {
    language: 'typescript',
    categoryId: '42',
    async start(run, environment) {
      await run('tsc', ['--project', '.']);
      return run(process.execPath, ['dist/program.js'], environment);
    },
  },
  'openapi-python-client.sh': {
    language: 'python',
    needs: 'Python',
    categoryId: INT64_MAX,
    prepare: installPythonPackages,
    start: (run, environment) => run('python3', ['program.py'], environment),
  },
  'oapi-codegen.sh': {
    language: 'go',
    needs: 'Go',
    categoryId: INT64_MAX,
    start: (run, environment) => run('go', ['run', 'main.go'], environment),
  },
  'openapi-generator-java.sh': {
    language: 'java',
    needs: 'Java',
    categoryId: INT64_MAX,
    async start(run, environment) {
      const goals = ['compile', 'dependency:copy-dependencies', '-DoutputDirectory=target/lib'];
      await run('mvn', ['--quiet', '--batch-mode', '--file', 'animals', ...goals]);
      return run('java', ['-cp', 'animals/target/classes:animals/target/lib/*', 'Program'], environment);
    },
  },
};

/**
 * What each program in `programs/` prints: it creates Rex with an Idempotency-Key, twice, and four more pets, reads all of
 * them in pages of two, and provokes a bad cursor, a wrong API key, an unknown id, and an Idempotency-Key of another pet.
 */
function expectedOutcome(categoryId: string) {
  const rex = { id: '1', name: 'Rex', categoryId, status: 'available' };
  return {
    created: rex,
    repeated: rex,
    pages: [['1', '2'], ['3', '4'], ['5']],
    errors: ['400 invalid_request', '401 unauthorized', '404 pet_not_found', '422 idempotency_key_reused'],
  };
}

/** Reads JSON with each number as its digits: only they tell whether a client has rounded. */
function parseDigits(output: string): unknown {
  const digits = (_name: string, value: unknown, { source }: { source: string }) =>
    typeof value === 'number' ? source : value;
  return JSON.parse(output, digits as (name: string, value: unknown) => unknown);
}

describe('docs/clients.md', () => {
  testIn('curl')('begins with a session that can be pasted, and shows what it prints', async () => {
    const [session = ''] = readFileSync(join(EXAMPLES, '../clients.md'), 'utf8').split('## In JavaScript');
    const blocks = [...session.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind, text]) => ({ kind, text }));
    const scripts = blocks.filter(({ kind, text }) => kind === 'sh' && !text?.includes('…')).map(({ text }) => text);
    await using service = await startService();
    using workspace = createWorkspace();
    const output = await workspace.run('sh', ['-euc', scripts.join('\n')], service.environment);
    const shown = blocks.filter(({ kind }) => kind === 'http').flatMap(({ text = '' }) => text.split('\n'));
    for (const line of shown.filter((each) => each !== '')) expect(output).toContain(line);
    expect(output.match(/idempotent-replayed: true/g)).toHaveLength(1);
    const error = blocks.find(({ kind }) => kind === 'json')?.text ?? '';
    expect(output).toContain(JSON.stringify(JSON.parse(error)));
    expect(JSON.parse(await storedIn(service))).toHaveLength(2);
  });
});

describe('docs/examples', () => {
  test('has only files that a test runs and docs/clients.md links', () => {
    const run = [CLIENTS, ...Object.values(TOPICS).map(({ files }) => files)].flatMap((files) => Object.keys(files));
    // This one is a server: tools/packaging runs it.
    const files = readdirSync(EXAMPLES)
      .filter((name) => name !== 'bun.ts')
      .sort();
    expect(files).toEqual([...run, 'requirements.txt'].sort());
    const manual = readFileSync(join(EXAMPLES, '../clients.md'), 'utf8');
    expect(files.filter((name) => !manual.includes(`](examples/${name})`))).toEqual([]);
  });

  test('int64.js says in one line that Node.js 20 is too old', () => {
    const words = ['--import=data:text/javascript,delete JSON.rawJSON', join(EXAMPLES, 'int64.js')];
    const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, 'int64.js needs JSON.rawJSON, as in Node.js 22\n']);
  });

  describe.each(Object.entries(TOPICS))('%s', (_, { files, check }) => {
    for (const [name, needs] of Object.entries(files)) {
      testIn(needs)(name, async () => {
        await using service = await startService();
        await check((environment = service.environment) => runExample(name, environment), service);
      });
    }
  });

  describe('generates a client that compiles, creates, pages to the end and reads errors, with', () => {
    for (const [script, { language, needs, categoryId, prepare, start }] of Object.entries(CLIENTS)) {
      testIn(needs)(script, async () => {
        await using service = await startService();
        using workspace = createWorkspace(language);
        const document = await fetch(new URL('/openapi.json', service.url));
        writeFileSync(join(workspace.folder, 'openapi.json'), await document.text());
        await prepare?.(workspace);
        await workspace.run('sh', ['-eu', script]);
        const output = await start(workspace.run, service.environment);
        expect(parseDigits(output)).toEqual(expectedOutcome(categoryId));
      });
    }
  });
});
