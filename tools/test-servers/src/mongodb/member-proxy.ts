import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The source of a connection: the port that a member listens on, or {@link CLIENTS}. */
export type Source = number;

/** All sources that are no members. */
export const CLIENTS: Source = 0;

/** A TCP proxy in front of a member, which treats the connections of each source as a test wants it. */
export type MemberProxy = Awaited<ReturnType<typeof startMemberProxy>>;

/** @param target The port that the member listens on. */
export async function startMemberProxy(target: number) {
  const silent = new Set<Source>();
  const rejected = new Set<Source>();
  const delays = new Map<Source, number>();
  const sockets = new Map<Socket, Source | null>();

  function track(socket: Socket, source: Source | null): void {
    sockets.set(socket, source);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  }

  function forward(client: Socket, source: Source, first: Buffer): void {
    const member = connect(target, '127.0.0.1');
    track(member, source);
    member.write(first);
    client.on('data', (data) => {
      if (!silent.has(source)) member.write(data);
    });
    member.on('data', (data) => {
      // Looked up when it is due: a partition drops what is on its way, too.
      setTimeout(() => !silent.has(source) && client.write(data), delays.get(source) ?? 0);
    });
    // Nor does the other side see the end of a connection.
    client.on('close', () => !silent.has(source) && member.destroy());
    member.on('close', () => !silent.has(source) && client.destroy());
  }

  const server = createServer((client) => {
    track(client, null);
    // In this protocol the client speaks first.
    client.once('data', (first) => {
      const source = sourceOf(first);
      sockets.set(client, source);
      if (rejected.has(source)) client.destroy();
      else if (!silent.has(source)) forward(client, source, first);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  function breakConnections(isBroken: (source: Source | null) => boolean): void {
    for (const [socket, source] of sockets) if (isBroken(source)) socket.destroy();
  }

  return {
    /** The port to connect to. */
    port: (server.address() as AddressInfo).port,

    /** Drops every byte in both directions from now on. New connections are accepted and left alone. */
    silence: (source: Source) => void silent.add(source),

    /** Breaks the connections, new ones too. */
    reject(source: Source): void {
      rejected.add(source);
      breakConnections((one) => one === source);
    },

    /** Delays responses by this time, in milliseconds. */
    delayResponses: (source: Source, milliseconds: number) => void delays.set(source, milliseconds),

    /** Lets everything through again; breaks the connections that there are, of which bytes may be missing. */
    heal(): void {
      for (const treated of [silent, rejected, delays]) treated.clear();
      breakConnections(() => true);
    },

    close(): Promise<void> {
      breakConnections(() => true);
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const HOST_INFO = 'hostInfo\0';

/** With test commands enabled a member sends its name and port along with its first request, as mongobridge needs it. */
function sourceOf(firstRequest: Buffer): Source {
  const at = firstRequest.indexOf(HOST_INFO);
  if (at === -1) return CLIENTS;
  const length = at + HOST_INFO.length;
  const text = firstRequest.toString('latin1', length + 4, length + 4 + firstRequest.readInt32LE(length) - 1);
  return Number(text.slice(text.lastIndexOf(':') + 1));
}
