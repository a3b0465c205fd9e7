import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** After so many requests of a connection it is the others' turn. */
const IN_A_ROW_MAX = 32;

/** While so many requests of a connection have no answer, nothing more is read of it. */
const UNANSWERED_MAX = 100;

/**
 * Once twice so many requests of all connections have no answer, nothing is read of any, and those with the most are cut, until it
 * is so many again.
 */
const UNANSWERED_OF_ALL = 2_000;

/** After so many chunks of a body it is the others' turn. */
const CHUNKS_IN_A_ROW = 100;

/** Serves a request. */
export type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * Keeps clients that send without waiting for answers from keeping others waiting, and from filling the memory. Node.js reads
 * pieces of 64 KiB, parses the whole of each, and goes on while there are more: thousands of requests at once, each of which
 * takes some ten microseconds, and some kilobytes until it is answered.
 */
export interface BackPressure {
  /** A connection was made. */
  opened(socket: Socket): void;
  /** Has a request served, now or in a later turn of the event loop: those of one connection in the order they came. */
  serve(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** A request came that is not to be served: what was made for it stays for as long as its connection. */
  ignore(incoming: IncomingMessage, outgoing: ServerResponse): void;
}

/** What a connection has to be done for. */
interface Load {
  /** The answer to the request that came last. */
  latest: ServerResponse | null;
  /** How many of its requests came before the one ahead of them was answered, and have no answer that is written. */
  unanswered: number;
  /** How many were served since others had their turn. */
  inARow: number;
  /** Those that wait for their turn. */
  readonly waiting: [IncomingMessage, ServerResponse][];
  /** Whether it has had its turn. */
  resting: boolean;
  /** Whether nothing is read of it. */
  held: boolean;
}

/**
 * @param connections Those that are open.
 * @param maxConnections How many these can be. One request of each may wait for bytes that are not read, so these must not
 * be enough to have reading held.
 * @param onCut Told of each connection that is cut.
 */
export function createBackPressure(
  serve: Serve,
  {
    connections,
    maxConnections,
    onCut,
  }: { connections: ReadonlySet<Socket>; maxConnections: number; onCut: () => void },
): BackPressure {
  const loads = new WeakMap<Socket, Load>();
  const few = Math.max(UNANSWERED_OF_ALL, maxConnections);
  const many = 2 * few;
  const resting: Socket[] = [];
  let unansweredOfAll = 0;
  let tooMany = false;

  function loadOf(socket: Socket): Load {
    const known = loads.get(socket);
    if (known !== undefined) return known;
    const made: Load = { latest: null, unanswered: 0, inARow: 0, waiting: [], resting: false, held: false };
    loads.set(socket, made);
    return made;
  }

  function holdOrGoOn(socket: Socket, load: Load): void {
    const held = tooMany || load.resting || load.unanswered >= UNANSWERED_MAX;
    if (held === load.held) return;
    load.held = held;
    if (held) {
      socket.pause();
      // Node.js goes on reading with the end of each request.
      socket.resume = () => socket;
    } else {
      // The one of the prototype is back.
      Reflect.deleteProperty(socket, 'resume');
      socket.resume();
    }
  }

  function count(socket: Socket, load: Load, change: number): void {
    load.unanswered += change;
    unansweredOfAll += change;
    const were = tooMany;
    tooMany = unansweredOfAll >= many || (were && unansweredOfAll > few);
    if (tooMany === were) {
      holdOrGoOn(socket, load);
      return;
    }
    for (const each of connections) holdOrGoOn(each, loadOf(each));
    if (tooMany) cutTheHeaviest();
  }

  /** Whoever leaves a part of them to others, or reads no answers, would else have nobody served. */
  function cutTheHeaviest(): void {
    let left = unansweredOfAll;
    const heaviest = Array.from(connections, (socket) => ({ socket, unanswered: loadOf(socket).unanswered }));
    heaviest.sort((one, other) => other.unanswered - one.unanswered);
    for (const { socket, unanswered } of heaviest) {
      if (left <= few) return;
      left -= unanswered;
      socket.destroy();
      onCut();
    }
  }

  function countUnanswered(socket: Socket, load: Load, outgoing: ServerResponse): void {
    count(socket, load, 1);
    outgoing.once('close', () => {
      if (connections.has(socket)) count(socket, load, -1);
    });
  }

  function rest(socket: Socket, load: Load): void {
    if (load.resting) return;
    load.resting = true;
    holdOrGoOn(socket, load);
    if (resting.push(socket) === 1) setImmediate(wakeNext);
  }

  /** One in each turn of the event loop. */
  function wakeNext(): void {
    const socket = resting.shift() as Socket;
    if (resting.length > 0) setImmediate(wakeNext);
    const load = loadOf(socket);
    load.resting = false;
    holdOrGoOn(socket, load);
  }

  /** A body of many small chunks keeps others waiting as many requests do: Node.js hands each over by itself. */
  function paceChunks(incoming: IncomingMessage, load: Load): void {
    let chunks = 0;
    incoming.push = (chunk: unknown) => {
      chunks += 1;
      if (chunks % CHUNKS_IN_A_ROW === 0) rest(incoming.socket, load);
      return IncomingMessage.prototype.push.call(incoming, chunk);
    };
  }

  function serveWaiting(load: Load): void {
    const next = load.waiting.splice(0, IN_A_ROW_MAX);
    if (load.waiting.length > 0) setImmediate(serveWaiting, load);
    else load.inARow = next.length;
    for (const [incoming, outgoing] of next) serve(incoming, outgoing);
  }

  return {
    opened(socket) {
      socket.once('close', () => {
        const load = loadOf(socket);
        // A client that is gone was promised no answer.
        load.waiting.length = 0;
        count(socket, load, -load.unanswered);
      });
      // Node.js begins to read when all are told of the connection.
      setImmediate(() => holdOrGoOn(socket, loadOf(socket)));
    },

    serve(incoming, outgoing) {
      const load = loadOf(incoming.socket);
      const { latest } = load;
      load.latest = outgoing;
      if (incoming.headers['transfer-encoding'] !== undefined) paceChunks(incoming, load);
      if (load.inARow < IN_A_ROW_MAX) {
        load.inARow += 1;
        serve(incoming, outgoing);
      } else if (load.waiting.push([incoming, outgoing]) === 1) {
        setImmediate(serveWaiting, load);
      }
      // Who waits for each answer costs no counting.
      if (!outgoing.writableEnded && latest?.writableFinished === false)
        countUnanswered(incoming.socket, load, outgoing);
    },

    ignore: ({ socket }, outgoing) => countUnanswered(socket, loadOf(socket), outgoing),
  };
}
