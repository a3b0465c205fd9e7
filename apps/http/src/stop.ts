import type { Run } from '@animal-store/app-kit/run-application';
import { withTimeout } from '@animal-store/async';
import type { RunningServer } from '@animal-store/http-server';
import type { Log, StorageMonitor } from '@animal-store/observability';
import type { ComposedService } from './composition.ts';
import type { Configuration } from './configuration.ts';
import type { Supervisor } from './workers/worker.ts';

/** How long probes in flight may take at the end, in milliseconds. */
const PROBES_DEADLINE = 100;

/** How long the storage may take to close, in milliseconds: more than any of its calls. */
const STORAGE_TIMEOUT = 5_500;
const STORAGE_HANGS = new Error(`the storage was not closed within ${STORAGE_TIMEOUT} ms`);

/** How long everything after the deadline may take (storage 5.5 s, log 1 s), in milliseconds. */
export const END_TIMEOUT = 7_000;

/** How much later a supervisor may end, in milliseconds: it reports the end of its workers. */
export const SUPERVISOR_TIMEOUT = 2_000;

/** The parts of a process. A supervisor has only workers, which are its server. */
interface Stoppable {
  readonly monitor?: StorageMonitor;
  readonly service?: ComposedService;
  readonly server: { stop(...args: Parameters<RunningServer['stop']>): Promise<unknown> };
  readonly probes?: RunningServer | undefined;
  readonly log: Log;
  readonly supervisor: Supervisor | null;
}

/** Makes the stop of a process, which the first signal or call begins. Its times are those of `RunningServer`. */
export function createStop(
  { monitor, service, server, probes, log, supervisor }: Stoppable,
  { STOP_GRACE_SECONDS, STOP_DEADLINE_SECONDS }: Configuration,
  onStop: Run['onStop'],
) {
  let isStopping = false;
  async function stop(grace = STOP_GRACE_SECONDS * 1_000, deadline = STOP_DEADLINE_SECONDS * 1_000): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    const timeout = grace + deadline + END_TIMEOUT + (service ? 0 : SUPERVISOR_TIMEOUT);
    // `process.exit` would wait for a write of the log that blocks, and for threads of the storage.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), timeout).unref();
    monitor?.stop();
    service?.beginStop();
    const connectionsClosed = await server.stop({ grace, deadline, probes });
    await withTimeout(service?.close(), STORAGE_TIMEOUT, STORAGE_HANGS).catch(log.unexpectedError);
    await probes?.stop({ grace: 0, deadline: PROBES_DEADLINE });
    // A supervisor speaks for its workers.
    if (supervisor === null || connectionsClosed) log.info('stopped', { connectionsClosed });
    await log.close();
    supervisor?.disconnect();
  }
  onStop((signal) => {
    // A terminal sends its signals to all processes: a worker leaves them to its supervisor.
    if (supervisor !== null) return;
    log.info('stopping', { signal });
    void stop();
  });
  return stop;
}
