import { trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The helpers of packages/async. Single flight never runs its work twice at the same time, and each call gets the result of
// the flight that it has joined. `once` runs its work until it has succeeded. A timeout is exact, and the result before it is
// the work's own. A throttle counts every event once.

const ASYNC = 'packages/async/src/index.ts';
const FLIGHT = 'packages/async/src/single-flight.ts';
const ONCE = 'packages/async/src/once.ts';
const TIMEOUT = 'packages/async/src/with-timeout.ts';
const THROTTLE = 'packages/async/src/throttle.ts';

interface Modules {
  singleFlight<T>(work: () => Promise<T>): () => Promise<T>;
  once<T>(work: () => Promise<T>): () => Promise<T>;
  withTimeout<T>(work: Promise<T>, limit: number, late: Error): Promise<T>;
  createThrottle(): () => number;
}

/** Work that runs for several callers: each run has the next number, or fails once. */
function sharedWork(world: World) {
  const shared = world.shared({ hasFailed: false });
  const inFlight = new Set<number>();
  let runs = 0;
  return {
    /** The number of the run in flight, or the next one. */
    expected: () => [...inFlight][0] ?? runs + 1,
    async run(): Promise<number> {
      runs += 1;
      const number = runs;
      inFlight.add(number);
      if (inFlight.size > 1) world.failure ??= new Error('the work runs twice at the same time');
      const done = () => number;
      const fails = (): number => {
        shared.hasFailed = true;
        throw new Error(`run ${number} failed`);
      };
      try {
        return await world.command('work', { run: shared.hasFailed ? { done } : { done, fails } });
      } finally {
        inFlight.delete(number);
      }
    },
  };
}

const callers = (world: World, call: () => Promise<void>) => {
  for (const name of ['first', 'second']) world.client(name, [call, call]);
  world.client('third', [call]);
};

const flights =
  ({ singleFlight }: Modules) =>
  (world: World) => {
    const { run, expected } = sharedWork(world);
    const shared = singleFlight(run);
    callers(world, async function call() {
      const number = expected();
      const result = await shared().catch((error: Error) => error.message);
      if (result !== number && result !== `run ${number} failed`)
        throw new Error(`a call of run ${number} got ${result}`);
    });
  };

const onlyOnce =
  ({ once }: Modules) =>
  (world: World) => {
    const { run, expected } = sharedWork(world);
    const shared = once(run);
    let success: number | null = null;
    callers(world, async function call() {
      const number = success ?? expected();
      const result = await shared().catch((error: Error) => error.message);
      if (result !== number && result !== `run ${number} failed`)
        throw new Error(`a call of run ${number} got ${result}`);
      if (typeof result === 'number') success = result;
    });
  };

const timeouts =
  ({ withTimeout }: Modules) =>
  (world: World) => {
    const late = new Error('late');
    const LIMIT = 500;
    let open = 0;
    for (const name of ['first', 'second']) {
      let repliedAt: number | null = null;
      const work = async () => {
        const fails = () => {
          throw new Error('failed');
        };
        const run = { done: () => name, fails, 'no reply': () => null };
        const result = await world.command(`work of ${name}`, { run }).catch((error: Error) => error);
        if (result === null) return new Promise<string>(() => {});
        repliedAt = world.now();
        if (result instanceof Error) throw result;
        return result;
      };
      world.client(name, [
        async function call() {
          const start = world.now();
          open += 1;
          const result = await withTimeout(work(), LIMIT, late).catch((error: Error) => error);
          open -= 1;
          const took = world.now() - start;
          if (took > LIMIT) throw new Error(`a call took ${took} ms`);
          if (result === late && (took < LIMIT || (repliedAt !== null && repliedAt < start + LIMIT))) {
            throw new Error('a call in time was late');
          }
          if (result !== late && result !== name && (result as Error).message !== 'failed') {
            throw new Error(`${name} got ${result}`);
          }
        },
      ]);
    }
    world.always(() => {
      if (open < world.timers.size) throw new Error('a timer outlives its call');
    });
    world.pass(250, 3, () => [...world.timers.values()].every(({ due }) => world.now() + 250 <= due));
  };

const throttles =
  ({ createThrottle }: Modules) =>
  (world: World) => {
    const count = createThrottle();
    let [events, reported] = [0, 0];
    let reportedAt = Number.NEGATIVE_INFINITY;
    let error: string | null = null;
    world.event('an event', {
      may: true,
      times: 5,
      process: 'main',
      run: () => {
        events += 1;
        const due = count();
        const isDue = world.now() - reportedAt >= 60_000;
        if (isDue !== due > 0) error = isDue ? 'no report' : 'a report within a minute';
        if (!isDue) return;
        reported += due;
        reportedAt = world.now();
        if (reported !== events) error = `${reported} of ${events} events were reported`;
      },
    });
    world.pass(30_000, 6);
    world.always(() => {
      if (error !== null) throw new Error(error);
    });
  };

const FINALLY = 'result.finally(() => {\n      inFlight = null;\n    })';
const CATCH = 'result = null;';

await trial<Modules>('single flight: 5 calls, a failure', [ASYNC], flights, {
  samples: 100,
  errors: [
    ['each call begins a flight', FLIGHT, 'if (inFlight !== null) return inFlight;', ''],
    [
      'a flight that fails never ends',
      FLIGHT,
      FINALLY,
      'result.then((value) => {\n      inFlight = null;\n      return value;\n    })',
    ],
    ['a flight never ends', FLIGHT, 'inFlight = null;', ''],
  ],
});
await trial<Modules>('once: 5 calls, a failure', [ASYNC], onlyOnce, {
  samples: 100,
  errors: [
    ['work that has failed is not run again', ONCE, CATCH, ''],
    [
      'work that has succeeded is run again',
      ONCE,
      'work().catch((error)',
      'work().finally(() => {\n      result = null;\n    }).catch((error)',
    ],
  ],
});
await trial<Modules>('timeouts: 2 calls, 0.75 s', [ASYNC], timeouts, {
  samples: 100,
  errors: [
    ['the timer of work in time is not cleared', TIMEOUT, 'clearTimeout(timer)', '{}'],
    ['a failure waits for the limit', TIMEOUT, 'then(resolve, reject)', 'then(resolve, () => {})'],
  ],
});
await trial<Modules>('throttle: 5 events, 3 minutes', [ASYNC], throttles, {
  samples: 100,
  errors: [
    [
      'the interval counts from the last event',
      THROTTLE,
      'if (now - reportedAt < INTERVAL) return 0;',
      'if (now - reportedAt < INTERVAL) {\n      reportedAt = now;\n      return 0;\n    }',
    ],
    ['events are counted twice', THROTTLE, 'count = 0;\n    return', 'return'],
    [
      'an event of a report is not counted',
      THROTTLE,
      'count += 1;\n    const now = performance.now();\n    if (now - reportedAt < INTERVAL) return 0;',
      'const now = performance.now();\n    count += 1;\n    if (now - reportedAt <= INTERVAL) return 0;',
    ],
  ],
});
