import { expect, test } from 'vitest';
import { createObservedLog } from '../../test/service.ts';
import { createApp } from '../app/app.ts';
import { createRecorder } from '../app/exchange.ts';
import { createLog, createRequestLog, type Log, reportDefect } from './log.ts';

function startWith(log: Log, checkReadiness?: () => Promise<void>) {
  const onObserverError = (error: unknown) => reportDefect(log, error);
  const recorder = createRecorder({ observers: [createRequestLog(log)], onObserverError });
  return { recorder, app: createApp({ recorder, checkReadiness } as Parameters<typeof createApp>[0]) };
}

test('a log that fails loses no response', async () => {
  const write = () => {
    throw new Error('a defect of the log');
  };
  const { app, recorder } = startWith(createLog('trace', { write }));
  expect((await app.request('/livez')).status).toBe(200);
  await recorder.allRecorded();
});

test.each([
  ['an error', new Error('a defect'), expect.objectContaining({ message: 'a defect', stack: expect.any(String) })],
  ['a text', 'a defect', 'a defect'],
  ['null', null, null],
  ['undefined', undefined, expect.objectContaining({ message: 'undefined was thrown' })],
])('has %s that is thrown', async (_, thrown, err) => {
  const { log, unexpectedErrors, logged } = createObservedLog();
  const { app } = startWith(log, () => Promise.reject(thrown));
  expect((await app.request('/readyz')).status).toBe(500);
  expect(unexpectedErrors).toEqual([err]);
  expect(logged).toMatchObject([{ route: '/readyz', status: 500, error: 'internal_error' }]);
});
