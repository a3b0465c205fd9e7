// The connection of SQLite: writes of two clients to a thread that ends, or waits for a disk that hangs.

import { Machine, type ThreadState } from '../fakes/sqlite.ts';
import { trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

const OPEN = 'packages/adapter-sqlite/src/open.ts';
const THREAD = 'packages/adapter-sqlite/src/thread.ts';

type Modules = typeof import('../../../packages/adapter-sqlite/src/open.ts');

/** Errors of thread.ts and of `withTimeout` (adapter-kit), after which the write may have been made or not. */
const UNKNOWN = /thread ended|no response/;

/** How often something may go wrong in a run. */
const MAX_FAILURES = 2;

const scenario =
  ({ createOpening, openAtStart, read, write }: Modules) =>
  (world: World) => {
    const machine = new Machine(world);
    const isIn = (...states: readonly ThreadState[]) => states.includes(machine.thread?.state ?? 'gone');
    let failures = 0;

    function failure(name: string, from: readonly ThreadState[], to: ThreadState): void {
      const run = () => {
        failures += 1;
        machine.thread?.become(to);
      };
      world.event(name, { may: true, can: () => failures < MAX_FAILURES && isIn(...from), run });
    }
    failure('the thread ends', ['well', 'late'], 'ended');
    failure('the disk hangs', ['well'], 'hanging');
    world.event('the process notices the end', { can: () => isIn('ended'), run: () => machine.thread?.become('gone') });
    world.event('the disk works again', { can: () => isIn('hanging'), run: () => machine.thread?.become('late') });
    // As long as a call may take.
    world.pass(2_200, () => isIn('hanging') && world.now() < 2_200);

    /** Writes whose errors said that they were not made. */
    const notMade: string[] = [];
    let opening: ReturnType<typeof openAtStart> | null = null;

    const writing = (id: string) =>
      async function attempt(): Promise<void> {
        // A write starts a thread if the last one is gone.
        const wasWell = isIn('well', 'gone');
        const before = failures;
        opening ??= openAtStart(createOpening('/animals.db'), false);
        const { call } = await opening;
        const outcome = await call((each) => write(each, ['write', id])).catch((error: Error) => error);
        if (outcome instanceof Error) {
          const reason = String(((outcome.cause ?? outcome) as Error).message);
          if (wasWell && before === failures) throw new Error(`nothing was wrong, and ${id} got: ${reason}`);
          if (!UNKNOWN.test(reason)) notMade.push(id);
          return;
        }
        if (outcome[0]?.[0] !== id) throw new Error(`${id} got ${outcome}`);
        const time = world.now();
        const rows = await call((each) => read(each, (found) => found, 'read')).catch((error: Error) => error);
        if (rows instanceof Error) {
          // The time of a call has passed meanwhile.
          if (world.now() > time) return;
          throw rows;
        }
        if (!rows.flat().includes(id)) throw new Error(`${id} is acknowledged, and not found`);
      };
    world.client('client 1', ['a', 'b'].map(writing));
    world.client('client 2', [writing('c')]);

    world.always(() => {
      const { rows } = machine;
      if (new Set(rows).size < rows.length) throw new Error(`made twice: ${rows}`);
      const made = notMade.find((id) => rows.includes(id));
      if (made !== undefined) throw new Error(`${made} was reported as not made, and is`);
    });
  };

/** Rejects a commit while another one is pending. */
const SECOND = "if (thread.pending !== null) throw unavailable(new Error('the disk takes too long to write'));";

await trial('3 writes, a thread that ends, a disk that hangs', [OPEN], scenario, [
  ['a thread that has ended is used', THREAD, 'if (thread === started) thread = null;', ''],
  ['a second transaction is sent', THREAD, SECOND, ''],
  ['reads are kept', OPEN, 'new Map<string, unknown>()', '((reader as never)["kept"] ??= new Map())'],
]);
