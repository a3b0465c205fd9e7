import { Socket } from 'node:net';
import pg from 'pg';

/** Reads the types of the results of this adapter, whatever a program has set in `pg.types`. Others stay texts. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.BOOL]: (text) => text === 't',
  [pg.types.builtins.INT4]: Number,
  [pg.types.builtins.JSON]: JSON.parse,
};
export const types = { getTypeParser: (oid: number) => PARSERS[oid] ?? String } as pg.CustomTypesConfig;

/** The sockets of clients. */
const sockets = new WeakMap<pg.ClientBase, Socket>();

/** A client of the driver whose connection can be reset. */
export class Client extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    // The pool makes the password a member that is not copied.
    super({ ...config, password: config?.password, stream: () => socket });
    sockets.set(this, socket);
  }
}

/** Ends a connection at once: the kernel discards what it has not sent, instead of sending it when the network is back. */
export function reset(client: pg.ClientBase): void {
  const socket = sockets.get(client);
  try {
    socket?.resetAndDestroy();
  } catch {
    // A Unix domain socket has no network.
    socket?.destroy();
  }
}
