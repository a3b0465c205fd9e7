import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** An IPv4 address as a socket that listens to IPv6 has it (RFC 4291, section 2.5.5.2). */
const MAPPED = '::ffff:';

/** An address that some proxies write with a port: `203.0.113.7:1234`, `[2001:db8::1]:1234`. */
const WITH_PORT = /^\[?(.+?)(?:\]:\d+|\]|(?<=\.\d+):\d+)$/;

/**
 * Finds the address of the client. Behind proxies that is the entry of X-Forwarded-For that the outermost of them wrote; the
 * entries before it come from the client and may be forged.
 *
 * @param proxies How many proxies are in front of the service, each of which adds an entry.
 * @returns The address of the connection if there are no proxies, or not as many entries; null if the client is gone.
 */
export function clientAddress({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>, proxies: number) {
  if (proxies > 0) {
    const entry = String(headers['x-forwarded-for']).split(',').at(-proxies)?.trim() ?? '';
    const address = WITH_PORT.exec(entry)?.[1] ?? entry;
    if (isIP(address) !== 0) return address;
  }
  const { remoteAddress = null } = socket;
  return remoteAddress?.startsWith(MAPPED) ? remoteAddress.slice(MAPPED.length) : remoteAddress;
}
