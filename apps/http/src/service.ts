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
import { createStop } from './stop.ts';
import { superviseWorkers } from './workers/supervisor.ts';
import { findSupervisor, isFirst, type Supervisor } from './workers/worker.ts';

/** Runs the service as its environment says, until it is stopped. Throws ConfigurationError. */
export async function startService(run: Run): Promise<void> {
  const output = openStandardOutput();
  const started = withDevelopmentKey(readConfiguration(process.env, await findStorages(process.env)));
  const { configuration } = started;
  const log = createLog(configuration.LOG_LEVEL, { output, readable: isatty(1) });
  // Without a listener Node.js would open its debugger.
  if (configuration.production) process.on('SIGUSR1', () => log.warn(OPERATOR_MESSAGES.ignoresSigusr1));
  const supervisor = findSupervisor();
  if (configuration.WORKERS > 1 && supervisor === null) {
    const workers = superviseWorkers(configuration.WORKERS, log, () => void stop());
    const stop = createStop({ server: workers, log, supervisor }, configuration, run.onStop);
    return;
  }
  await serve(started, log, supervisor, run).catch((error) => {
    supervisor?.disconnect();
    throw error;
  });
}

async function serve(
  { configuration, developmentKey }: ReturnType<typeof withDevelopmentKey>,
  log: Log,
  supervisor: Supervisor | null,
  { onStop, reportMisconfiguration }: Run,
): Promise<void> {
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

  if (isFirst()) {
    for (const warning of [...configuration.warnings, ...warnings]) log.warn(warning);
    const url = originOf(server) + configuration.BASE_PATH;
    const workers = configuration.WORKERS > 1 ? configuration.WORKERS : undefined;
    const names = { storage: configuration.storage.name, probes: probes && originOf(probes), workers };
    if (developmentKey === null) log.info('listening', { url, ...names, ...version });
    else log.print(startupMessage({ url, key: developmentKey, storage: description, ...version }));
  }

  // The storage is checked after the start, because the service starts without it, too.
  const monitor = monitorStorage({
    storage: service.storage,
    names: { storage: configuration.storage.name, at: service.storage.location },
    messages: {
      unavailable: OPERATOR_MESSAGES.storageUnavailable,
      misconfigured: OPERATOR_MESSAGES.storageMisconfigured,
    },
    misconfiguration,
    findMisconfiguration: () => missingKeys(configuration, service),
    onMisconfiguration(message) {
      reportMisconfiguration(message);
      void stop(0, 0);
    },
    onCheck: service.metrics.storageChecked,
    log,
  });
  const stop = createStop({ monitor, service, server, probes, log, supervisor }, configuration, onStop);
  supervisor?.serve({ registry: service.metrics.registry, stop: () => void stop() });
}

/** Outside production, a key is generated for this run if there is none. */
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
