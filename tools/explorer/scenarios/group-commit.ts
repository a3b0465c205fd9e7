import { trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// Group commit of SQLite with its timers. Each call gets one result, its own; what the result says about the write is true,
// and `close` waits for every call. A commit is done, fails or meets a lock; 3 s may pass at any time.

const GROUP_COMMIT = 'packages/adapter-sqlite/src/writing/group-commit.ts';

interface Committed {
  readonly results: readonly string[];
  readonly errors: ReadonlyMap<number, unknown>;
}

interface Modules {
  createGroupCommit(commit: (writes: readonly string[]) => Promise<Committed>): {
    add(write: string): Promise<unknown>;
    close(): Promise<void>;
  };
}

/** @param closes Whether it is closed while two calls wait. Otherwise a client adds another write after its first one. */
const scenario =
  (closes: boolean) =>
  ({ createGroupCommit }: Modules) =>
  (world: World) => {
    const shared = world.shared({ log: [] as readonly string[], locks: 0 });
    /** Writes that were rejected while it was certain that they would never be made. */
    const rejected: string[] = [];
    let [open, isClosing] = [0, false];

    const commits = createGroupCommit((writes) => {
      const done = (): Committed => {
        shared.log = [...shared.log, ...writes];
        return { results: writes.map((write) => `done ${write}`), errors: new Map() };
      };
      const fails = (): Committed => {
        throw new Error('the disk is full');
      };
      const locked = (): Committed => {
        shared.locks += 1;
        throw Object.assign(new Error('locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
      };
      // One lock: with any number the orders would not end.
      return world.command('commit', { run: shared.locks === 0 ? { done, fails, locked } : { done, fails } });
    });

    const adding = (write: string) =>
      async function add(): Promise<void> {
        const since = world.now();
        open += 1;
        const result = await commits.add(write).catch(() => null);
        open -= 1;
        if (result === null) {
          if (world.now() - since < 4_000) rejected.push(write);
        } else if (result !== `done ${write}`) throw new Error(`${write} got: ${result}`);
        else if (!shared.log.includes(write)) throw new Error(`${write} was not committed`);
      };
    world.client('first', closes ? [adding('a')] : [adding('a'), adding('b')]);
    world.client('second', [adding('c')]);
    if (closes) {
      world.event('close', {
        may: true,
        process: 'main',
        can: () => open === 2,
        run: () => {
          isClosing = true;
          void commits.close().then(() => {
            isClosing = false;
            if (open > 0) throw new Error('closed before every call had ended');
          });
        },
      });
      world.finally(() => {
        if (isClosing) throw new Error('close never ends');
      });
    }
    world.pass(3_000);
    world.always(() => {
      if (new Set(shared.log).size < shared.log.length) throw new Error(`committed twice: ${shared.log}`);
      const made = rejected.find((write) => shared.log.includes(write));
      if (made !== undefined) throw new Error(`${made} was rejected, and committed`);
    });
  };

await trial<Modules>('3 writes, a lock, 3 s', [GROUP_COMMIT], scenario(false), {
  samples: 200,
  errors: [
    ['calls that met a lock are lost', GROUP_COMMIT, 'waiting = [...inFlight, ...waiting];', ''],
    ['a failure is not reported', GROUP_COMMIT, 'else rejectAll(batch, error);', ''],
    ['a write that was rejected waits on', GROUP_COMMIT, 'waiting = rejectOlder(waiting, ', 'rejectOlder(waiting, '],
    ['each call gets the first result', GROUP_COMMIT, 'resolve(results[index])', 'resolve(results[0])'],
    ['later writes start no transaction', GROUP_COMMIT, "inFlight = [];\n    state = 'idle';", 'inFlight = [];'],
  ],
});
await trial<Modules>('2 writes, a lock, 3 s, a close', [GROUP_COMMIT], scenario(true), {
  samples: 200,
  errors: [
    ['a close does not wait', GROUP_COMMIT, "if (state === 'idle') return;\n", 'return;\n'],
    ['a close does not wait for calls in flight', GROUP_COMMIT, '[...inFlight, ...waiting].map', '[...waiting].map'],
  ],
});
