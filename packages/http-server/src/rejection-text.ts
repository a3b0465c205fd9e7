import { STATUS_CODES } from 'node:http';

/** A rendered rejection: header fields, without Content-Length, Date and Connection, and the body. */
export interface RenderedRejection {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The bytes of a response for which Node has no ServerResponse.
 *
 * @param isHead Whether it responds to HEAD: it has the length of the body, and no body.
 */
export function rejectionText(
  status: number,
  headers: RenderedRejection['headers'],
  body: string,
  isHead: boolean,
): string {
  const fields = {
    ...headers,
    Date: new Date().toUTCString(),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${isHead ? '' : body}`;
}
