import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Systems assign the ports above these to connections, which could take one before its test listens on it. */
const RANGE = { first: 20_000, end: 32_768 };

/** Free neighbours of the loopback interface, in ascending order. Another program may take one before it is used. */
export async function freePorts(count: number, { first, end } = RANGE): Promise<number[]> {
  for (;;) {
    const lowest = randomInt(first, end - count + 1);
    const ports = Array.from({ length: count }, (_, index) => lowest + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** What programs say of a port that is in use: Node.js and proxies, Docker, and MongoDB by its exit code. */
const IN_USE = /EADDRINUSE|address already in use|port is already allocated|exited with 48/i;

/** Not by chance. */
const ATTEMPTS = 5;

/**
 * Starts a program on free ports; on others if one was taken before the program listened on it.
 *
 * @param start Rejects if the program does not listen. The error has what the program says.
 */
export async function onFreePorts<T>(count: number, start: (...ports: number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(...(await freePorts(count)));
    } catch (error) {
      if (attempt === ATTEMPTS || !IN_USE.test(String(error))) throw error;
    }
  }
}
