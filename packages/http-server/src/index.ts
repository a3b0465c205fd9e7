/** @module @animal-store/http-server */

export { clientAddress } from './client-address.ts';
export { headerValues } from './header-values.ts';
export { IncomingRequest } from './incoming-request.ts';
export { OutgoingResponse } from './outgoing-response.ts';
export { readBody } from './read-body.ts';
export { Rejection } from './rejection.ts';
export {
  DROP_REASONS,
  type DropReason,
  type Listener,
  type Rejected,
  type RenderedRejection,
  type RenderRejection,
  type RunningServer,
  type ServerOptions,
} from './server.ts';
export { MAX_HEADER_SIZE, MAX_QUEUED_REQUESTS } from './size-limits.ts';
export { startServer } from './start-server.ts';
export { TIME_LIMITS, type TimeLimits } from './time-limits.ts';
