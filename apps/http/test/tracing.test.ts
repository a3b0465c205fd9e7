import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { KEY, serviceAt } from './service.ts';
import { listeningAt, startProcess } from './service-process.ts';

const PRELOAD = fileURLToPath(new URL('trace-to-stderr.ts', import.meta.url));

test('names the spans of OpenTelemetry by route, and logs their trace ids', async () => {
  const running = startProcess({ API_KEYS: KEY, NODE_OPTIONS: `--import=${PRELOAD}` });
  const { add, call } = serviceAt(await listeningAt(running));
  await add({ name: 'Rex', categoryId: 1 });
  await call('GET', '/v1/pets/1');
  await call('GET', '/v1/nothing');
  running.process.kill('SIGTERM');
  expect(await running.exit).toBe(0);

  const spans = running.output.err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string | null>);
  expect(spans.map(({ name, route }) => [name, route])).toEqual([
    ['POST /v1/pets', '/v1/pets'],
    ['GET /v1/pets/:petId', '/v1/pets/:petId'],
    ['GET', null],
  ]);
  expect(running.logged('request').map((request) => request['traceId'])).toEqual(spans.map((span) => span['traceId']));
});
