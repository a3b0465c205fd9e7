import type { DropReason } from '@animal-store/http-server';
import type { UnavailableReason } from './http-error.ts';

/** The messages of the log, besides events with fields of their own and errors in the settings. */
export const OPERATOR_MESSAGES = {
  countsAlone: 'requests are counted by this process alone: the shared count failed',
  /** Connections that the server dropped. */
  dropped: {
    connections:
      'connections are dropped: there are as many as MAX_CONNECTIONS, the limit of open files or that of PROBE_PORT allows',
    requests: 'connections are closed: they sent too many requests without waiting for responses',
  } satisfies Record<DropReason, string>,
  fewerConnections: 'fewer connections than MAX_CONNECTIONS are accepted: raise the limit of open files (ulimit -n)',
  ignoresSigusr1: 'SIGUSR1 is ignored in production',
  noKey: 'there is no API key: set API_KEYS or issue a key',
  noValidKey: 'there is no API key that is valid, all are revoked or expired: set API_KEYS or issue a key',
  storageMisconfigured: 'requests that need the storage are rejected with 503',
  storageUnavailable: 'the storage is unavailable: requests that need it are rejected with 503 until it is available',
  workerEnded: 'a worker ended; it is started again',
  /** Requests that are rejected with 503; none is needed at the stop. */
  unavailable: {
    storage: 'requests are rejected with 503: the storage failed',
    overload: 'requests are rejected with 503: the service is overloaded',
    stopping: null,
  } satisfies Record<UnavailableReason, string | null>,
} as const;

/** The message for a person who started the service without keys. */
export function startupMessage({
  url,
  key,
  storage,
  version,
}: Readonly<Record<'url' | 'key' | 'storage' | 'version', string>>): string {
  return `
Animal Store ${version} listens at ${url}

  API key, made for this run:  ${key}
  Storage:                     ${storage}

Add an animal:

  curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":1,"status":"available"}' ${url}/pets

`;
}
