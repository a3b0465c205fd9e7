import type { Run } from '@animal-store/app-kit/run-application';
import type { RunningServer } from '@animal-store/http-server';
import type { Log, StorageMonitor } from '@animal-store/observability';
import type { ComposedService } from './composition.ts';
import type { Configuration } from './configuration.ts';
import type { Supervisor } from './workers/worker.ts';

/** How long a stop may take after its deadline, in milliseconds: the storage closes within 5 s, the log within 1 s. */
const END_TIMEOUT = 7_000;

/** How long probes in flight may take at the end, in milliseconds. */
const PROBES_DEADLINE = 100;

/** What a process stops. A supervisor has nothing but workers, which are its server. */
export interface Stoppable {
  readonly monitor?: StorageMonitor;
  readonly service?: Pick<ComposedService, 'beginStop' | 'close'>;
  /** Its `stop` returns how many connections were closed at the deadline. */
  readonly server: { stop(...args: Parameters<RunningServer['stop']>): Promise<number | undefined> };
  readonly probes?: RunningServer | undefined;
  readonly log: Pick<Log, 'info' | 'unexpectedError' | 'close'>;
  /** null if the process is no worker. */
  readonly supervisor: Pick<Supervisor, 'disconnect'> | null;
}

/**
 * Stops a process on a signal, or when the returned function is called: once, and within the times in milliseconds that
 * `RunningServer` explains.
 */
export function createStop(
  { monitor, service, server, probes, log, supervisor }: Stoppable,
  { STOP_GRACE_SECONDS, STOP_DEADLINE_SECONDS }: Configuration,
  onStop: Run['onStop'],
) {
  let isStopping = false;
  async function stop(grace = STOP_GRACE_SECONDS * 1_000, deadline = STOP_DEADLINE_SECONDS * 1_000): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    // `process.exit` would wait for a write of the log that blocks.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), grace + deadline + END_TIMEOUT).unref();
    monitor?.stop();
    service?.beginStop();
    const connectionsClosed = await server.stop({ grace, deadline, probes });
    await service?.close().catch(log.unexpectedError);
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
