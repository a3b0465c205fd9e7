import { OVERLOADED } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { Guard } from './route.ts';

/** How many requests whose body has arrived may be in flight. Beyond, operations are rejected. */
const IN_FLIGHT_MAX = 1_000;

/** Rejects requests with 503 while too many are in flight. */
export const shedLoad: Guard = ({ load: { inFlight, receiving } }) => {
  if (inFlight - receiving > IN_FLIGHT_MAX) throw OVERLOADED;
};

/**
 * Reads the body of a request, which does not count for load shedding meanwhile: its client decides how long that takes.
 *
 * @throws HttpError as `IncomingRequest.readBody`
 */
export async function readBody({ request, load }: Exchange): Promise<Buffer> {
  load.receiving += 1;
  try {
    return await request.readBody();
  } finally {
    load.receiving -= 1;
  }
}
