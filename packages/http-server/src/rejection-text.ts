import { STATUS_CODES } from 'node:http';
import type { RenderedRejection } from './server.ts';

/**
 * The bytes of a response for which Node has no ServerResponse.
 *
 * @param isHead Whether it responds to HEAD: it has the length of the body, and no body.
 */
export function rejectionText(status: number, { headers, body }: RenderedRejection, isHead: boolean): string {
  const fields = {
    ...headers,
    Date: new Date().toUTCString(),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${isHead ? '' : body}`;
}
