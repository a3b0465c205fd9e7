import { clientAddress, type Rejected, type Rejection, type RenderedRejection } from '@animal-store/http-server';

import { beginExchange, type Observer, UNMATCHED } from './exchange.ts';
import { errorResponse } from './http-error.ts';
import { SECURITY_HEADERS } from './respond.ts';

/** The route of what is no request, for observers. */
const UNPARSABLE = 'unparsable';

/** Renders as Error bodies what the server rejects before it reaches a route. @param observer Notified of each. */
export function createRejectionRenderer(observer: Observer, trustedProxies: number) {
  return (rejection: Rejection, { request, socket }: Rejected): RenderedRejection => {
    const { headers = {}, method = '-' } = request ?? {};
    // A tunnel is for proxies: its target is no path.
    const route = request === null || method === 'CONNECT' ? UNPARSABLE : UNMATCHED;
    const client = clientAddress({ headers, socket }, trustedProxies);
    const exchange = beginExchange(headers, method, route, SECURITY_HEADERS, client);
    const response = errorResponse(rejection);
    const body = String(response.body);
    observer.begin?.();
    observer.end(exchange, response, Buffer.byteLength(body), 0);
    return { headers: { ...SECURITY_HEADERS, ...response.headers, 'x-request-id': exchange.id }, body };
  };
}
