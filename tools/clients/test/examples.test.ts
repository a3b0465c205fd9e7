import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { Language } from '../src/global-setup.ts';
import { activatePython } from '../src/python.ts';
import { type ServiceForClients, startServiceForClients } from '../src/service.ts';
import { startUnreliableProxy } from '../src/unreliable-proxy.ts';
import { createWorkspace, EXAMPLES } from '../src/workspace.ts';

const missing = inject('missingLanguages');

const GOJQ = 'github.com/itchyny/gojq/cmd/gojq@v0.12.17';

/** Copies an example, prepares its environment, runs it, and returns its output. */
async function runExample(name: string, environment: ServiceForClients['environment']): Promise<string> {
  using workspace = createWorkspace();
  const { run } = workspace;
  workspace.copyExample(name);
  switch (extname(name)) {
    case '.js':
      // Packages of the repository are run from their sources.
      return await run(process.execPath, ['--conditions=@animal-store/source', name], environment);
    case '.py':
      return await run('python3', [name], { ...environment, ...(await activatePython(workspace)) });
    case '.sh':
      // The jq of Debian 12 rounds.
      workspace.writeProgram('jq', `exec go run ${GOJQ} "$@"`);
      return await run('sh', ['-eu', name], environment);
    case '.go':
      return await run('go', ['run', name], environment);
    case '.java':
      // It begins with the commands that load its library and run it.
      for (const [, command] of workspace.read(name).matchAll(/^\/\/ mvn (.*)$/gm)) {
        await run('mvn', ['--quiet', '--batch-mode', ...(command as string).split(' ')]);
      }
      return await run('sh', ['-euc', /^\/\/ (java .*)$/m.exec(workspace.read(name))?.[1] as string], environment);
    default:
      throw new Error(`no test runs ${name}`);
  }
}

async function call({ environment: { BASE_URL, API_KEY } }: ServiceForClients, path: string, body?: object) {
  const response = await fetch(`${BASE_URL}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
}

/** The name of an example, and what it needs. */
type Case = readonly [name: string, ...needs: Language[]];

const REQUESTS: readonly Case[] = [['first-request.sh', 'curl']];

const INT64: readonly Case[] = [
  ['int64-exact-json.js'],
  ['int64-source-text.js'],
  ['int64.py', 'Python'],
  ['int64.go', 'Go'],
  ['Int64.java', 'Java'],
  ['int64-jq.sh', 'curl', 'Go'],
];

const PAGES: readonly Case[] = [['pages-fetch.js'], ['pages-requests.py', 'Python'], ['pages-httpx.py', 'Python']];

const RETRIES: readonly Case[] = [['retries.js'], ['retries.py', 'Python']];

/** The tests of generated clients use these. */
const GENERATORS = [
  'openapi-fetch.sh',
  'hey-api.sh',
  'openapi-ts.config.js',
  'exact-fetch.ts',
  'requirements.txt',
  'openapi-python-client.sh',
  'oapi-codegen.sh',
  'openapi-generator.sh',
  'openapi-generator-java.sh',
  'openapi-generator-typescript.sh',
  'openapi-generator-go.sh',
];

/** A test of each example, skipped if a language is missing. */
function testExamples(cases: readonly Case[], run: (name: string) => Promise<void>): void {
  for (const [name, ...needs] of cases) {
    test.skipIf(needs.some((language) => missing.includes(language)))(name, () => run(name));
  }
}

// Downloading packages for the first time takes minutes.
describe('docs/examples', { timeout: 300_000 }, () => {
  test('has only files that a test runs and docs/clients.md links', () => {
    const run = [...REQUESTS, ...INT64, ...PAGES, ...RETRIES].map(([name]) => name);
    const files = readdirSync(EXAMPLES).sort();
    expect(files).toEqual([...run, ...GENERATORS, 'openapi-document.sh'].sort());
    const manual = readFileSync(join(EXAMPLES, '../clients.md'), 'utf8');
    expect(files.filter((name) => !manual.includes(`](examples/${name})`))).toEqual([]);
  });

  test('names the versions of npm packages that are tested', () => {
    const scripts = ['openapi-fetch.sh', 'hey-api.sh'].map((name) => readFileSync(join(EXAMPLES, name), 'utf8'));
    const named = [...scripts.join('').matchAll(/^# npm install .*?(\S+)@(\S+)$/gm)];
    expect(named).toHaveLength(4);
    for (const [, name, version] of named) {
      const manifest = new URL(`../node_modules/${name}/package.json`, import.meta.url);
      expect([name, version]).toEqual([name, JSON.parse(readFileSync(manifest, 'utf8')).version]);
    }
  });

  describe('sends requests in', () => {
    testExamples(REQUESTS, async (name) => {
      await using service = await startServiceForClients();
      const output = await runExample(name, service.environment);
      expect(output.trim()).toBe('{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"available"}');
    });
  });

  test.skipIf(missing.includes('curl'))('fetches the document', async () => {
    await using service = await startServiceForClients();
    using workspace = createWorkspace();
    await workspace.run('sh', ['-eu', join(EXAMPLES, 'openapi-document.sh')], service.environment);
    expect(workspace.read('openapi.json')).toBe(service.document);
  });

  describe('keeps all digits in', () => {
    testExamples(INT64, async (name) => {
      await using service = await startServiceForClients();
      expect(await runExample(name, service.environment)).toBe('9223372036854775807\n');
      expect(await call(service, '/pets')).toBe('[{"id":1,"name":"Rex","categoryId":9223372036854775807}]');
    });
  });

  describe('reads every page in', () => {
    testExamples(PAGES, async (name) => {
      await using service = await startServiceForClients();
      for (let count = 0; count < 250; count += 1) await call(service, '/pets', { name: 'Rex', categoryId: count });
      expect(await runExample(name, service.environment)).toBe('250\n');
    });
  });

  describe('creates one pet in spite of lost responses and errors in', () => {
    testExamples(RETRIES, async (name) => {
      await using service = await startServiceForClients();
      await using proxy = await startUnreliableProxy(service.environment.BASE_URL);
      expect(await runExample(name, { ...service.environment, BASE_URL: proxy.url })).toBe('201\n');
      expect(await call(service, '/pets')).toBe('[{"id":1,"name":"Rex","categoryId":42}]');
      const waits = proxy.arrivals.slice(1).map((arrival, index) => arrival - (proxy.arrivals[index] as number));
      expect(waits).toHaveLength(4);
      // The pauses of Retry-After in the responses with 503 and 429.
      expect(waits[1]).toBeGreaterThanOrEqual(990);
      expect(waits[2]).toBeGreaterThanOrEqual(990);
    });
  });
});
