import { isatty } from 'node:tty';
import { createDevelopmentKey, findStorages, openStorage, readVersion } from '@animal-store/app-kit';
import type { Run } from '@animal-store/app-kit/run-application';
import { isUsable } from '@animal-store/domain/transport';
import { createLog, type Log, monitorStorage, openStandardOutput } from '@animal-store/observability';
import { type ComposedService, compose } from './composition.ts';
import { type Configuration, readConfiguration } from './configuration.ts';
import { OPERATOR_MESSAGES, startupMessage } from './http/operator-messages.ts';
import { listen, originOf } from './listening.ts';
import { createRequestLog } from './observability/request-log.ts';
import { superviseWorkers } from './workers/supervisor.ts';
import { findSupervisor, isFirst, type Supervisor } from './workers/worker.ts';

const SECOND = 1_000;

/** How long probes in flight may take at the end, in milliseconds. */
const PROBES_DEADLINE = 100;

/**
 * Runs the service as its environment says, until it is stopped.
 *
 * @throws ConfigurationError
 */
export async function startService(run: Run): Promise<void> {
  const output = openStandardOutput();
  const { configuration, developmentKey } = withDevelopmentKey(
    readConfiguration(process.env, await findStorages(process.env)),
  );
  const log = createLog(configuration.LOG_LEVEL, { output, readable: isatty(1) });
  // Without a listener Node.js would open its debugger.
  if (configuration.production) process.on('SIGUSR1', () => log.warn(OPERATOR_MESSAGES.ignoresSigusr1));
  const supervisor = findSupervisor();
  if (configuration.WORKERS > 1 && supervisor === null) {
    await superviseWorkers(configuration.WORKERS, log, run);
    return;
  }
  await serve({ ...run, configuration, developmentKey, log, supervisor }).catch((error) => {
    supervisor?.disconnect();
    throw error;
  });
}

interface Serving extends Pick<Run, 'onStop' | 'reportMisconfiguration'> {
  readonly configuration: Configuration;
  readonly developmentKey: string | null;
  readonly log: Log;
  readonly supervisor: Supervisor | null;
}

async function serve(serving: Serving): Promise<void> {
  const { configuration, developmentKey, log, supervisor, onStop, reportMisconfiguration } = serving;
  const version = readVersion(process.env);
  const { storage, description, warnings, misconfiguration } = await openStorage(configuration.storage, {
    onKeyLookup: (cached) => service.metrics.keyLookedUp(cached),
  });
  const service = compose({
    ...{ configuration, version, storage, log },
    requestLog: createRequestLog(log),
    readMetrics: supervisor?.readMetrics,
  });
  const { server, probes } = await listen(service, configuration, log).catch(async (error) => {
    await service.close();
    throw error;
  });

  async function stopNow(grace: number, deadline: number): Promise<void> {
    monitor.stop();
    service.beginStop();
    const connectionsClosed = await server.stop({ grace, deadline, probes });
    await service.close();
    await probes?.stop({ grace: 0, deadline: PROBES_DEADLINE });
    if (supervisor === null || connectionsClosed > 0) log.info('stopped', { connectionsClosed });
    await log.close();
    supervisor?.disconnect();
  }
  let stopped: Promise<void> | null = null;
  function stop(grace: number, deadline: number): Promise<void> {
    stopped ??= stopNow(grace, deadline);
    return stopped;
  }
  const stopInTime = () =>
    stop(configuration.STOP_GRACE_SECONDS * SECOND, configuration.STOP_DEADLINE_SECONDS * SECOND);
  onStop((signal) => {
    // A terminal sends its signals to all processes: a worker leaves them to its supervisor.
    if (supervisor !== null) return;
    log.info('stopping', { signal });
    void stopInTime();
  });
  supervisor?.serve({ registry: service.metrics.registry, stop: () => void stopInTime() });

  const url = originOf(server) + configuration.BASE_PATH;
  if (isFirst()) {
    for (const warning of [...configuration.warnings, ...warnings]) log.warn(warning);
    const workers = configuration.WORKERS > 1 ? configuration.WORKERS : undefined;
    const names = { storage: configuration.storage.name, probes: probes && originOf(probes), workers };
    if (developmentKey === null) log.info('listening', { url, ...names, ...version });
    else log.print(startupMessage({ url, key: developmentKey, storage: description, ...version }));
  }

  // Only now: a storage that is unavailable must not keep the service from starting.
  const monitor = monitorStorage({
    storage: service.storage,
    names: { storage: configuration.storage.name, at: service.storage.location },
    messages: {
      unavailable: OPERATOR_MESSAGES.storageUnavailable,
      misconfigured: OPERATOR_MESSAGES.storageMisconfigured,
    },
    misconfiguration,
    findMisconfiguration: () => missingKeys(configuration, service),
    async onMisconfiguration(message) {
      reportMisconfiguration(message);
      await stop(0, 0);
    },
    onCheck: service.metrics.storageChecked,
    log,
  });
}

/** Without any key, outside production, one is generated for this run. */
function withDevelopmentKey(configuration: Configuration): {
  configuration: Configuration;
  developmentKey: string | null;
} {
  if (configuration.configuredKeys.size > 0 || configuration.production) return { configuration, developmentKey: null };
  const { key, configuredKeys } = createDevelopmentKey();
  return { configuration: { ...configuration, configuredKeys }, developmentKey: key };
}

/** The error if no API key can be valid in production, or null. */
async function missingKeys(
  { configuredKeys, production, warnings }: Configuration,
  { storage }: ComposedService,
): Promise<string | null> {
  if (!production || configuredKeys.size > 0) return null;
  const issued = await storage.keys.list();
  const now = Date.now();
  if (issued.some((key) => isUsable(key, now))) return null;
  const missing = issued.length === 0 ? OPERATOR_MESSAGES.noKey : OPERATOR_MESSAGES.noValidKey;
  return [missing, ...warnings.filter((warning) => warning.includes('API_KEYS'))].join('; ');
}
