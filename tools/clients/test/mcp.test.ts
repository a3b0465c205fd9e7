import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { installOwnPackages } from '@animal-store/test-kit/own-packages';
import { KEY, startService } from '@animal-store/test-kit/service';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { createWorkspace, installPythonPackages } from '../src/workspace.ts';

/** The conformance suite has a lockfile of its own, because nothing else needs its packages. */
const SUITE = join(import.meta.dirname, '../conformance');

/** The revisions of MCP, and the scenarios of the suite that need no tools of its own. */
const SCENARIOS = {
  '2025-06-18': ['server-initialize', 'ping', 'tools-list'],
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'],
  '2026-07-28': [
    ...['tools-list', 'dns-rebinding-protection', 'server-stateless', 'http-header-validation', 'caching'],
    ...['server-sse-multiple-streams', 'input-required-result-unsupported-methods'],
  ],
};

/** The checks that fail because the service has tools only, and opens no stream. */
const NOT_OFFERED = [
  // They need tools of the suite.
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  // Subscriptions.
  'sep-2575-server-sends-subscription-ack',
  'sep-2575-server-tags-subscription-id',
  // Prompts and resources.
  'sep-2549-prompts-list-caching-hints',
  'sep-2549-resources-list-caching-hints',
  'sep-2549-resources-templates-list-caching-hints',
];

/** Starts a service, with a proxy in front of it that adds the API key, which the suite can't send. */
async function startServiceWithoutKeys(): Promise<string> {
  const proxy = createServer((incoming, response) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${KEY}` };
    const request = sendRequest(mcp, { method: incoming.method, headers }, (reply) => {
      response.writeHead(reply.statusCode as number, reply.headers);
      reply.pipe(response);
    });
    request.on('error', () => response.destroy());
    incoming.pipe(request);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void proxy.close());
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const service = await startService();
  onTestFinished(() => service[Symbol.asyncDispose]());
  const mcp = new URL('/mcp', service.url);
  return `${origin}/mcp`;
}

beforeAll(() => installOwnPackages(SUITE));

test.each(
  Object.entries(SCENARIOS).flatMap(([version, scenarios]) =>
    scenarios.map((scenario) => [scenario, version] as const),
  ),
)('passes %s of the conformance suite in revision %s', async (scenario, version) => {
  using workspace = createWorkspace();
  const url = await startServiceWithoutKeys();
  const options = ['--url', url, '--scenario', scenario, '--spec-version', version, '--output-dir', '.'];
  // It fails if a check does.
  await workspace.run(join(SUITE, 'node_modules/.bin/conformance'), ['server', ...options]).catch(() => {});
  const output = await workspace.run('sh', ['-c', 'cat */checks.json']);
  const checks: { id: string; status: string }[] = JSON.parse(output);
  expect(checks.filter(({ status }) => status === 'SUCCESS')).not.toEqual([]);
  const failures = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  expect(failures.filter(({ id }) => !NOT_OFFERED.includes(id))).toEqual([]);
});

test.skipIf(inject('missing').includes('Python'))('serves the SDK in Python', async () => {
  using workspace = createWorkspace('mcp');
  await installPythonPackages(workspace);
  await using service = await startService();
  const environment = { MCP_URL: String(new URL('/mcp', service.url)), API_KEY: KEY };
  const output = await workspace.run('python3', ['client.py'], environment);
  const rex = { id: '1', name: 'Rex', categoryId: '9223372036854775807' };
  const outcome = JSON.stringify([['list_pets', 'create_pet', 'get_pet'], rex, rex, true]);
  const lines = output.trim().split('\n');
  expect(lines.map((line) => JSON.stringify(JSON.parse(line)))).toEqual([outcome, outcome]);
});
