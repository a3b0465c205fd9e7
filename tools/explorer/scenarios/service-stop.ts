import { Server } from 'node:net';
import { MemorySocket } from '../src/memory-socket.ts';
import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The stop of apps/http, in a process with signals, connections in memory, a storage and a log. No request that was accepted
// loses its response before the deadline. The storage is closed after the last request, and the log after that. Probes say that
// the service is not ready. The process ends in time, whatever hangs, and at once when a signal comes twice.

const RUN = 'packages/app-kit/src/run-application.ts';
const LISTENING = 'apps/http/src/listening.ts';
const STOP = 'apps/http/src/stop.ts';
const MONITOR = 'packages/observability/src/storage-monitor.ts';
const PATHS = [RUN, LISTENING, STOP, MONITOR];

interface Run {
  onStop(stop: (signal: string) => void): void;
  reportMisconfiguration(message: string): void;
}

interface Response {
  writeHead(status: number, headers: object): void;
  end(body: string): void;
}

type Listener = (request: { readonly url: string }, response: Response) => void;

interface Modules {
  runApplication(name: string, description: string, load: () => Promise<(run: Run) => Promise<void>>): Promise<void>;
  listen(service: object, configuration: object, log: object): Promise<{ server: object; probes?: object }>;
  createStop(
    stoppable: object,
    configuration: object,
    onStop: Run['onStop'],
  ): (grace?: number, deadline?: number) => Promise<void>;
  monitorStorage(options: object): object;
}

interface Sizes {
  /** Clients, each with one request. */
  readonly clients?: readonly string[];
  /** Whether signals and clients may come while the service starts. */
  readonly isStarting?: boolean;
  readonly hasProbes?: boolean;
  /** The signals that may come, in any order. */
  readonly signals: Readonly<Record<string, number>>;
  /** Whether a request, the storage or the log may hang or fail. */
  readonly hangs?: boolean;
  /** Whether the storage may show a configuration error. */
  readonly isMisconfigured?: boolean;
  /** Whether another process supervises this one, and stops it. */
  readonly isWorker?: boolean;
  /** Whether this process has workers, which are killed. */
  readonly isSupervisor?: boolean;
}

const [PORT, PROBE_PORT] = [1, 2];

/** In milliseconds. */
const [GRACE, DEADLINE, END_TIMEOUT, SUPERVISOR_TIMEOUT] = [1_000, 2_000, 7_000, 2_000];

const CONFIGURATION = { STOP_GRACE_SECONDS: 1, STOP_DEADLINE_SECONDS: 2, HOST: 'a', PORT, MAX_CONNECTIONS: 10 };

const EXIT_MISCONFIGURED = 2;

/** What the present run does when the process or a server is called. */
let machine: {
  readonly process: Partial<NodeJS.Process>;
  listen(server: Server, port: number): void;
  close(server: Server, done: () => void): void;
};
Object.assign(Server.prototype, {
  listen(this: Server, port: number) {
    machine.listen(this, port);
  },
  close(this: Server, done: () => void) {
    machine.close(this, done);
  },
  address: () => null,
});
// Each run adds a listener, and may report an error.
Object.assign(process.stderr.setMaxListeners(0), { write: () => true });

const scenario =
  ({
    clients = [],
    isStarting = false,
    hasProbes = false,
    signals,
    hangs = false,
    isMisconfigured = false,
    isWorker = false,
    isSupervisor = false,
  }: Sizes) =>
  ({ runApplication, listen, createStop, monitorStorage }: Modules) =>
  (world: World) => {
    const servers = new Map<Server, { readonly port: number; readonly sockets: Set<MemorySocket>; isOpen: boolean }>();
    const handlers = new Map<string, () => void>();
    const sent = new Map<string, number>();
    /** Requests that were accepted and have no response. */
    const inFlight = new Set<string>();
    const hanging = new Set<string>();
    const lines: string[] = [];
    let [isStarted, isStopping, isStorageOpen, isLogOpen, isConnected, isOver] = [
      false,
      false,
      true,
      true,
      isWorker,
      false,
    ];
    let stoppingAt: number | null = null;
    let violation: string | null = null;

    const violate = (what: string) => {
      violation ??= what;
    };
    const isLate = () => stoppingAt !== null && world.now() >= stoppingAt + DEADLINE;
    /** How the process ends. */
    const end = (isAtOnce: boolean) => {
      if (isOver) return;
      isOver = true;
      world.timers.clear();
      world.commands.clear();
      const isSecond = [...sent.values()].some((count) => count > 1);
      if (isSecond) return;
      if (inFlight.size > 0 && !isLate()) violate(`the process ends before ${[...inFlight]} has a response`);
      if (isAtOnce && isStarted && hanging.size === 0) violate('the process is killed');
      if (!isAtOnce && isLogOpen) violate('the log is not closed');
      if (hanging.has('storage') && !lines.includes('unexpected error')) violate('nothing says that the storage hangs');
    };
    const killed = () => {
      end(true);
    };

    machine = {
      process: {
        once: ((signal: string, run: () => void) => void handlers.set(signal, run)) as never,
        exit: killed as never,
        kill: killed as never,
      },
      listen(server, port) {
        void world.command(`listen at ${port}`, { run: () => true }).then(() => {
          servers.set(server, { port, sockets: new Set(), isOpen: true });
          server.emit('listening');
        });
      },
      close(server, done) {
        const own = servers.get(server);
        if (own === undefined) return done();
        own.isOpen = false;
        const check = () => own.sockets.size === 0 && done();
        for (const socket of own.sockets) {
          socket.once('close', () => {
            own.sockets.delete(socket);
            queueMicrotask(check);
          });
        }
        check();
      },
    };
    Object.assign(process, machine.process, { exitCode: undefined });

    const connect = (port: number, packet: string): MemorySocket | null => {
      const found = [...servers].find(([, each]) => each.port === port && each.isOpen);
      if (found === undefined) return null;
      const [server, { sockets }] = found;
      const socket = new MemorySocket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      server.emit('connection', socket);
      socket.receive(packet);
      return socket;
    };

    const log = {
      info: (message: string) => void lines.push(message),
      error: (message: string) => void lines.push(message),
      unexpectedError: () => void lines.push('unexpected error'),
      async close() {
        if (lines.at(-1) !== 'stopped' && !isWorker) violate(`the log is closed after ${lines}`);
        isLogOpen = false;
        const isWritten = await world.command('write the log', {
          run: { done: () => true, ...(hangs && { blocks: () => false }) },
        });
        if (!isWritten) hanging.add('log');
      },
    };
    const listener: Listener = ({ url }, response) => {
      if (!isStorageOpen) violate(`${url} is served after the storage is closed`);
      inFlight.add(url);
      void world
        .command(`work for ${url}`, { run: { done: () => true, ...(hangs && { hangs: () => false }) } })
        .then((isDone) => {
          if (!isDone) return;
          response.writeHead(200, { 'Content-Length': url.length });
          response.end(url);
          inFlight.delete(url);
        });
    };
    const service = {
      listener,
      probeListener: ((_, response) => {
        const status = isStopping ? 503 : 200;
        response.writeHead(status, { 'Content-Length': 0 });
        response.end('');
      }) satisfies Listener,
      renderRejection: () => ({ headers: {}, body: '' }),
      requestMetrics: { countDrop() {} },
      beginStop() {
        isStopping = true;
      },
      async close() {
        if (inFlight.size > 0 && !isLate()) violate(`the storage is closed before ${[...inFlight]}`);
        isStorageOpen = false;
        const fails = () => {
          throw new Error('no connection');
        };
        const run = { done: () => true, ...(hangs && { fails, hangs: () => false }) };
        if (await world.command('close the storage', { run })) return;
        hanging.add('storage');
        await new Promise(() => {});
      },
    };

    const start = async ({ onStop, reportMisconfiguration }: Run) => {
      if (isSupervisor) {
        const workers = { stop: () => new Promise((ended) => setTimeout(ended, GRACE + DEADLINE + END_TIMEOUT + 100)) };
        createStop({ server: workers, log, supervisor: null }, CONFIGURATION, onStop);
        [isStarted, isStorageOpen] = [true, false];
        return;
      }
      const configuration = { ...CONFIGURATION, PROBE_PORT: hasProbes ? PROBE_PORT : 0 };
      const { server, probes } = await listen(service, configuration, log);
      const problem = Object.assign(new Error('no such user'), { code: 'misconfigured' });
      const ready = { done: () => true, ...(isMisconfigured && { 'finds a wrong setting': () => false }) };
      let checks = 0;
      const storage = {
        async ready() {
          checks += 1;
          // One that comes later has the same effect.
          if (checks > 2) await new Promise(() => {});
          if (!(await world.command('check the storage', { run: ready }))) throw problem;
        },
      };
      const monitor = isMisconfigured
        ? monitorStorage({
            storage,
            names: {},
            messages: {},
            misconfiguration: (error: unknown) => (error === problem ? problem.message : null),
            findMisconfiguration: async () => null,
            onMisconfiguration(message: string) {
              reportMisconfiguration(message);
              beginStop();
              void stop(0, 0);
            },
            onCheck() {
              if (stoppingAt !== null) violate('a check is reported after a stop began');
            },
            log,
          })
        : { stop() {} };
      const supervisor = isWorker
        ? {
            disconnect() {
              isConnected = false;
            },
          }
        : null;
      const stop = createStop({ monitor, service, server, probes, log, supervisor }, configuration, onStop);
      isStarted = true;
      if (!isWorker) return;
      world.event('the supervisor stops it', {
        process: 'main',
        can: () => !isOver,
        run() {
          beginStop();
          void stop();
        },
      });
    };
    const beginStop = () => {
      stoppingAt ??= world.now();
    };
    const begin = () => void runApplication('animal-store', '', async () => start);
    world.event('start', { process: 'main', run: begin });

    const can = () => !isOver && (isStarting || isStarted);
    for (const [signal, times] of Object.entries(signals)) {
      world.event(signal, {
        times,
        may: true,
        process: 'main',
        can: () => can() && (stoppingAt !== null || world.now() === 0),
        run() {
          sent.set(signal, (sent.get(signal) ?? 0) + 1);
          const run = handlers.get(signal);
          handlers.delete(signal);
          if (run === undefined) return end(true);
          if (isStarted && !isWorker) beginStop();
          run();
          if (!isStarted && !isOver) violate('a signal during the start is ignored');
        },
      });
    }
    for (const name of clients) {
      let socket: MemorySocket | null = null;
      world.event(`${name} sends`, {
        may: true,
        process: 'main',
        can: () => can() && [...servers.values()].some(({ port, isOpen }) => port === PORT && isOpen),
        run() {
          socket = connect(PORT, `GET /${name} HTTP/1.1\r\nHost: a\r\n\r\n`);
        },
      });
      world.event(`${name} ends`, {
        process: 'main',
        can: () => !isOver && socket !== null && socket.hasEnded && !socket.destroyed,
        run: () => socket?.receive(null),
      });
    }
    /** The last probe, and the status that it must get. */
    let probe: { readonly status: number; readonly socket: MemorySocket | null } | null = null;
    if (hasProbes) {
      world.event('a probe', {
        may: true,
        process: 'main',
        can: () => can() && [...servers.values()].some(({ port }) => port === PROBE_PORT),
        run() {
          const socket = connect(PROBE_PORT, 'GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
          socket?.receive(null);
          probe = { status: stoppingAt === null ? 200 : 503, socket };
        },
      });
    }

    world.always(() => {
      const status = probe?.socket?.text.slice(9, 12);
      if (probe !== null && isStorageOpen && Number(status) !== probe.status) violate(`a probe gets ${status}`);
      if (violation !== null) throw new Error(violation);
      if (isOver) return;
      const isServing = [...servers.values()].some(({ isOpen, sockets }) => isOpen || sockets.size > 0);
      const isWaiting = world.commands.size > 0 || [...world.timers.values()].some(({ isRef }) => isRef);
      const isHeld = isServing || isConnected || isStorageOpen || hanging.size > 0 || isWaiting;
      if (stoppingAt !== null && !isHeld) end(false);
      if (
        stoppingAt !== null &&
        world.now() > stoppingAt + GRACE + DEADLINE + END_TIMEOUT + (isSupervisor ? SUPERVISOR_TIMEOUT : 0)
      ) {
        throw new Error('the process does not end in time');
      }
    });
    world.finally(() => {
      if (violation !== null) throw new Error(violation);
      if (stoppingAt !== null && !isOver) throw new Error('the process never ends');
      if (new Set(lines).size < lines.length) throw new Error(`it stops twice: ${lines}`);
      if (isWorker && lines.length > 0) throw new Error(`a worker has logged ${lines}`);
      if (process.exitCode !== undefined && process.exitCode !== EXIT_MISCONFIGURED) throw new Error('wrong exit code');
      process.exitCode = undefined;
    });
  };

const trialOf = (title: string, sizes: Sizes, errors: TrialOptions['errors'] = []) =>
  trial<Modules>(title, PATHS, scenario(sizes), { samples: 100, errors });

const SERVER = 'const connectionsClosed = await server.stop({ grace, deadline, probes });';
const STORAGE = 'await withTimeout(service?.close(), STORAGE_TIMEOUT, STORAGE_HANGS).catch(log.unexpectedError);';
const PROBES = 'await probes?.stop({ grace: 0, deadline: PROBES_DEADLINE });';

await trialOf('2 requests, 2 signals', { clients: ['a', 'b'], signals: { SIGTERM: 2 } });
await trialOf('a request, signals of 2 kinds', { clients: ['a'], signals: { SIGTERM: 2, SIGINT: 1 } }, [
  ['another signal stops it again', RUN, 'if (!stopping) stop(signal);', 'stop(signal);'],
  ['the storage is closed first', STOP, SERVER, `${STORAGE}\n${SERVER}`],
  ['the log is not closed', STOP, 'await log.close();', ''],
  [
    'it says that it has stopped after it has closed the log',
    STOP,
    'await log.close();',
    "await log.close(); log.info('stopped');",
  ],
]);
await trialOf(
  'a start with a port for probes',
  { clients: ['a'], isStarting: true, hasProbes: true, signals: { SIGTERM: 1 } },
  [['a signal during the start is ignored', RUN, '= () => process.exit();', '= () => {};']],
);
await trialOf('a request, a probe', { clients: ['a'], hasProbes: true, signals: { SIGTERM: 1 } }, [
  ['it stays ready', STOP, 'service?.beginStop();', ''],
  ['probes end first', STOP, SERVER, `${PROBES}\n${SERVER}`],
  ['the port for probes stays open', STOP, PROBES, ''],
]);
await trialOf('a request, the storage or the log hangs', { clients: ['a'], hangs: true, signals: { SIGTERM: 1 } }, [
  ['nothing ends a process that hangs', STOP, "process.kill(process.pid, 'SIGKILL')", '{}'],
  ['a storage that fails to close ends the stop', STOP, '.catch(log.unexpectedError)', ''],
  ['nothing ends the close of the storage', STOP, STORAGE, 'await service?.close().catch(log.unexpectedError);'],
  [
    'the time to end has no deadline in it',
    STOP,
    'grace + deadline + END_TIMEOUT',
    'grace + deadline + 2 * END_TIMEOUT',
  ],
]);
await trialOf('a wrong setting', { clients: ['a'], isMisconfigured: true, signals: { SIGTERM: 1 } }, [
  ['it stops twice', STOP, 'if (isStopping) return;', ''],
  ['the storage is checked on', STOP, 'monitor?.stop();', ''],
]);
await trialOf('a worker', { clients: ['a'], isWorker: true, signals: { SIGTERM: 1 } }, [
  ['it stops by itself', STOP, 'if (supervisor !== null) return;', ''],
  ['it stays connected to its supervisor', STOP, 'supervisor?.disconnect();', ''],
]);
await trialOf('a supervisor', { isSupervisor: true, signals: { SIGTERM: 1 } }, [
  ['it is killed with its workers', STOP, '(service ? 0 : SUPERVISOR_TIMEOUT)', '0'],
]);
process.exitCode = undefined;
