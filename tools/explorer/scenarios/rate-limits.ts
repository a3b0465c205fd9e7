import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The counter of rate limits with its fallback: two processes before one shared count that may fail, be slow or silent. The
// shared count allows no more requests than the limit in a window, and neither does each process alone. No request waits longer
// than 500 ms. For 5 s after a failure no request asks the shared count, and then the next one does.

const LIMITER = 'packages/app-kit/src/rate-limiter.ts';
const OWN = 'packages/app-kit/src/process-rate-limiter.ts';

interface Quota {
  readonly allowed: boolean;
}

interface Limiter {
  take(holder: string): Promise<Quota> | Quota;
}

interface Modules {
  createRateLimiter(
    policy: typeof POLICY,
    storage: { createRateLimiter(): Limiter },
    onFailure: (error: unknown) => void,
    clock: () => number,
  ): Limiter;
}

interface Sizes {
  /** How many requests each client makes. The clients of a process have its name. */
  readonly requests: readonly (readonly [process: string, count: number])[];
  readonly failures: number;
  /** How much time passes at once, in milliseconds, and how often. */
  readonly pass: readonly [ms: number, times: number];
}

/** Shorter than in production, so that windows end within the time that passes. In milliseconds. */
const POLICY = { limit: 1, window: 2_000 };
const [TIMEOUT, FALLBACK] = [500, 5_000];

const scenario =
  ({ requests, failures, pass: [ms, times] }: Sizes) =>
  ({ createRateLimiter }: Modules) =>
  (world: World) => {
    const shared = world.shared({ used: 0, endsAt: 0, failed: 0 });
    /** An error that is thrown in the count would be taken for its failure. */
    let violation: string | null = null;

    function startProcess() {
      let fallbackUntil = Number.NEGATIVE_INFINITY;
      let hasAsked = false;
      const allowedAlone: number[] = [];

      async function count(): Promise<Quota & { isShared: true }> {
        hasAsked = true;
        if (world.now() < fallbackUntil) violation = 'the shared count is asked during a fallback';
        const done = () => {
          const isNew = world.now() >= shared.endsAt;
          shared.used = isNew ? 1 : shared.used + 1;
          if (isNew) shared.endsAt = world.now() + POLICY.window;
          return { allowed: shared.used <= POLICY.limit };
        };
        const fails = (): Quota => {
          shared.failed += 1;
          throw new Error('no connection');
        };
        const silent = () => {
          shared.failed += 1;
          return null;
        };
        const quota = await world.command('count', {
          run: shared.failed < failures ? { done, fails, silent } : { done },
        });
        return quota === null ? new Promise(() => {}) : { ...quota, isShared: true };
      }
      const limiter = createRateLimiter(
        POLICY,
        { createRateLimiter: () => ({ take: count }) },
        () => {
          if (world.now() < fallbackUntil) violation = 'a failure is reported during a fallback';
          fallbackUntil = world.now() + FALLBACK;
        },
        () => world.now(),
      );
      return async function request(): Promise<void> {
        const start = world.now();
        const mustAsk = start >= fallbackUntil;
        hasAsked = false;
        const taken = limiter.take('holder');
        if (mustAsk && !hasAsked) throw new Error('the shared count is not asked after a fallback');
        const { allowed, ...quota } = await taken;
        if (world.now() - start > TIMEOUT) throw new Error(`a request waited for ${world.now() - start} ms`);
        if ('isShared' in quota) return;
        if (world.now() >= fallbackUntil) throw new Error('a process counts alone without a fallback');
        if (!allowed) return;
        // The last windows of this process that may still be open.
        const inWindow = allowedAlone.filter((at) => world.now() - at < POLICY.window);
        if (inWindow.length >= POLICY.limit) throw new Error('a process alone allows more than the limit');
        allowedAlone.push(world.now());
      };
    }
    const processes = new Map([...new Set(requests.map(([name]) => name))].map((name) => [name, startProcess()]));
    for (const [index, [process, number]] of requests.entries()) {
      const request = processes.get(process) as () => Promise<void>;
      world.client(`client ${index + 1}`, Array(number).fill(request), { process });
    }
    world.pass(ms, times, () => [...world.timers.values()].every(({ due }) => world.now() + ms <= due));
    world.always(() => {
      if (violation !== null) throw new Error(violation);
    });
  };

const trialOf = (title: string, sizes: Sizes, options: TrialOptions = {}) =>
  trial<Modules>(title, [LIMITER], scenario(sizes), { samples: 100, ...options });

const twoClients = (first: number, second: number): Sizes['requests'] => [
  ['main', first],
  ['main', second],
];

const twoProcesses: Sizes['requests'] = [
  ['one', 2],
  ['two', 2],
];
const LARGE = { isLarge: true };

await trialOf(
  '3 requests, a failure, 0.5 s',
  { requests: twoClients(2, 1), failures: 1, pass: [500, 1] },
  {
    errors: [
      [
        'the shared count may take any time',
        LIMITER,
        'withTimeout(shared.take(holder), SHARED_TIMEOUT, LATE)',
        'shared.take(holder)',
      ],
      ['a failure is reported again', LIMITER, 'if (clock() >= fallbackUntil) {', '{'],
      ['each request has a window of its own', OWN, 'windows.set(holder, window);', ''],
    ],
  },
);
await trialOf(
  '4 requests, a failure, 7.5 s',
  { requests: twoClients(3, 1), failures: 1, pass: [2_500, 3] },
  {
    errors: [
      ['the shared count is asked in a fallback', LIMITER, 'if (clock() < fallbackUntil) return own.take(holder);', ''],
      ['a fallback never ends', LIMITER, 'clock() + FALLBACK_DURATION', 'Number.POSITIVE_INFINITY'],
      ['a window begins again with each request', OWN, 'now >= window.endsAt', 'now < window.endsAt'],
    ],
  },
);
await trialOf('3 requests, 2 failures, 0.5 s', { requests: twoClients(2, 1), failures: 2, pass: [250, 2] }, LARGE);
await trialOf('4 requests, 2 failures, 7.5 s', { requests: twoClients(3, 1), failures: 2, pass: [2_500, 3] }, LARGE);
await trialOf(
  '4 requests of two processes, 2 failures, 5 s',
  { requests: twoProcesses, failures: 2, pass: [2_500, 2] },
  LARGE,
);
