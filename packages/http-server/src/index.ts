export { DROP_REASONS, type DropReason } from './connections.ts';
export { type Limits, SERVER_LIMITS } from './limits.ts';
export { readBody } from './read-body.ts';
export { Rejection } from './rejection.ts';
export type { RenderedRejection } from './rejection-text.ts';
export { Request } from './request.ts';
export { Response } from './response.ts';
export { type ServerOptions, startServer } from './server.ts';
export type { RunningServer } from './stop.ts';
