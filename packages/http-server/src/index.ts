/** @module @animal-store/http-server */

export { clientAddress } from './client-address.ts';
export { DROP_REASONS, type DropReason, type Listener, type Rejected, type RenderRejection } from './connections.ts';
export { headerValues } from './header-values.ts';
export { IncomingRequest } from './incoming-request.ts';
export { type Limits, SERVER_LIMITS } from './limits.ts';
export { OutgoingResponse } from './outgoing-response.ts';
export { readBody } from './read-body.ts';
export { Rejection } from './rejection.ts';
export type { RenderedRejection } from './rejection-text.ts';
export { type ServerOptions, startServer } from './server.ts';
export type { RunningServer } from './stop.ts';
