import { expect, test } from 'vitest';
import { createApp } from '../app/app.ts';
import { createExchange } from '../app/exchange.ts';
import { createRequestLog, reportDefect } from './log.ts';

test('a log that fails loses no response', async () => {
  const fail = () => {
    throw new Error('a defect of the log');
  };
  const log = { child: () => ({ debug: fail, info: fail }), error: fail, warnThrottled: fail };
  const onObserverError = (error: unknown) => reportDefect(log, error);
  const exchange = createExchange({ observers: [createRequestLog(log)], onObserverError });
  const app = createApp({ exchange } as Parameters<typeof createApp>[0]);
  expect((await app.request('/livez')).status).toBe(200);
  await exchange.allRecorded();
});
