import { withTimeout } from '@animal-store/async';
import { unavailable } from '@animal-store/domain/ports';
import type { Awaitable } from '@animal-store/domain/transport';
import type { IncomingRequest } from '@animal-store/http-server';
import type { Exchange } from './exchange.ts';
import type { HttpResponse } from './response.ts';

/** How long a request may wait for the storage, in milliseconds: five seconds, less the time to render the response. */
const STORAGE_TIME = 4_500;

/** A storage call has a time limit of its own, in milliseconds. It holds for the request if no more than this was spent before. */
const NEGLIGIBLE = 250;

const LATE = unavailable();

/** Runs an operation within the time that authentication and rate limiting have left of the request. */
export function withinDeadline(
  { startedAt }: Exchange,
  incoming: IncomingRequest,
  operation: () => Awaitable<HttpResponse>,
): Awaitable<HttpResponse> {
  const spent = performance.now() - startedAt;
  if (spent < NEGLIGIBLE) return operation();
  const work = operation();
  const limited = () => withTimeout(work, STORAGE_TIME - spent, LATE);
  // The time in which the client sends a body that the operation reads is not the storage's.
  if (!incoming.isBeingRead) return limited();
  const arrived = new Promise((resolve) => incoming.once('close', resolve));
  return Promise.race([work, arrived.then(limited)]);
}
