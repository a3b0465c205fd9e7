import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT_MISCONFIGURED } from '@animal-store/app-kit/run-application';
import type { Log } from '@animal-store/observability';
import { OPERATOR_MESSAGES } from '../http/operator-messages.ts';
import { collectMetrics } from './collected-metrics.ts';
import { send, type ToSupervisor } from './messages.ts';

/** A start is successful after this time, in milliseconds: a worker that ends later is started without a long pause. */
const STABLE = 10_000;

/** The first pause before a worker is started again, which doubles, and the longest; in milliseconds. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [100, 10_000];

/**
 * Runs the service in several processes that share its ports (node:cluster). The lines of their logs are written by this
 * process, because a pipe would mix long writes of several.
 *
 * @param onMisconfiguration Called if a worker ends with a configuration error.
 * @returns Workers whose `stop` resolves when all of them have ended.
 */
export function superviseWorkers(count: number, log: Log, onMisconfiguration: () => void) {
  cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const running = new Set<Worker>();
  const metrics = collectMetrics(running, log.linesLost);
  const stopping = new AbortController();
  const begun = performance.now();

  /**
   * Runs one worker until it ends.
   *
   * @returns Its exit code and its signal.
   * @throws The system's error if its process can't be started.
   */
  async function runWorker(onReady: () => void): Promise<unknown[]> {
    const worker = cluster.fork();
    running.add(worker);
    worker.on('message', (message: ToSupervisor) => {
      metrics.receive(worker, message);
      if (message.type !== 'ready') return;
      onReady();
      // Messages that were sent before are lost.
      if (stopping.signal.aborted) send(worker, { type: 'stop' });
    });
    const forwarded = forwardLines(worker.process.stdout, log).catch(log.unexpectedError);
    try {
      const ended = await once(worker, 'exit');
      await forwarded;
      return ended;
    } finally {
      running.delete(worker);
      metrics.retire(worker);
    }
  }

  /** Runs one worker after the other in one place. */
  async function keepRunning(onReady: () => void): Promise<void> {
    for (let pause = FIRST_PAUSE; !stopping.signal.aborted; ) {
      const started = performance.now();
      const [code, signal] = await runWorker(onReady).catch((error) => [error.code, null]);
      // A setting that became wrong later must not end workers that serve.
      if (code === EXIT_MISCONFIGURED && performance.now() - begun < STABLE) {
        process.exitCode = code;
        onMisconfiguration();
      }
      if (stopping.signal.aborted) return;
      if (performance.now() - started > STABLE) pause = FIRST_PAUSE;
      log.error(OPERATOR_MESSAGES.workerEnded, { code, signal, restartsAfter: pause });
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {});
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  const { promise: ready, resolve: onReady } = Promise.withResolvers<void>();
  const first = keepRunning(onReady);
  // The others wait for the first one: an address that can't be used is reported once.
  const others = Array.from({ length: count - 1 }, () =>
    Promise.race([ready, first]).then(() => keepRunning(() => {})),
  );
  return {
    async stop() {
      stopping.abort();
      for (const worker of running) send(worker, { type: 'stop' });
      await Promise.all([first, ...others]);
    },
  };
}

/**
 * Writes complete lines as they come.
 *
 * @param output None if the process could not be started.
 */
async function forwardLines(output: Readable | null, log: Log): Promise<void> {
  let rest = '';
  for await (const chunk of output?.setEncoding('utf8') ?? []) {
    const text = rest + chunk;
    const end = text.lastIndexOf('\n') + 1;
    log.addLine(text.slice(0, end));
    rest = text.slice(end);
  }
}
