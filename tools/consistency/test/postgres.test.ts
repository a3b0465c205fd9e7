import { setTimeout as pause } from 'node:timers/promises';
import { startTcpProxy } from '@animal-store/adapter-contract';
import { describeWithPostgres, startServer } from '@animal-store/test-servers/postgres';
import { onTestFinished, test } from 'vitest';
import { checkConsistency, secondsOr } from '../src/check-consistency.ts';

const SECONDS = secondsOr(15);

describeWithPostgres('two processes on PostgreSQL', () => {
  test(`show consistent pets while the server fails for ${SECONDS} seconds`, {
    timeout: SECONDS * 1_000 + 600_000,
  }, async () => {
    const server = await startServer('durable');
    onTestFinished(() => server.stop());
    const { host } = new URL(server.url);
    const proxy = await startTcpProxy(host);
    onTestFinished(() => proxy.close());
    const during = (begin: () => unknown, end: () => unknown) => async () => {
      await begin();
      // Shorter and longer than the time limits of the adapter.
      await pause(200 + Math.random() * 2_800);
      await end();
    };
    const faults = {
      kill: during(server.kill, server.start),
      pause: during(server.pause, server.resume),
      'end sessions': server.endSessions,
      cut: during(proxy.cut, proxy.pass),
      silence: during(proxy.swallow, proxy.pass),
      'lose responses': during(proxy.loseResponses, proxy.pass),
    };
    const environment = { STORAGE: 'postgres', POSTGRES_URL: server.url.replace(host, proxy.addresses[0]) };
    await checkConsistency(environment, { seconds: SECONDS, faults, diagnose: server.diagnose });
  });
});
