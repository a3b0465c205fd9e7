import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Tells the benchmark the server's URL. */
export function listening(server: Pick<Server, 'address'>): void {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}
