import { type TrialOptions, trial } from '../src/trial.ts';
import type { World } from '../src/world.ts';

// The retries of the client, against a service whose responses are lost, cut off, late or errors. One call creates at most one
// pet. A call that is aborted ends at once and sends nothing more; every other call ends by its deadline.

const CLIENT = 'packages/client/src/client.ts';
const SEND = 'packages/client/src/send.ts';

interface Pet {
  readonly id: bigint;
  readonly name: string;
}

interface Options {
  readonly signal?: AbortSignal;
  readonly timeout: number;
}

interface Modules {
  createClient(options: { url: string; key: string }): {
    createPet(pet: { name: string; categoryId: bigint }, options: Options): Promise<Pet>;
  };
}

interface Sizes {
  /** The outcomes of a request, besides a success. */
  readonly outcomes: readonly string[];
  /** How many requests may fail. */
  readonly failures: number;
  /** The names of pets that are created at the same time. */
  readonly pets: readonly string[];
  readonly isAborted?: boolean;
  /** The time that passes while requests are in flight, in milliseconds. */
  readonly delay?: number;
}

/** The timeout of each call, in milliseconds: one attempt is silent for 10 s. */
const TIMEOUT = 12_000;

/** The longest pause with a Retry-After, in milliseconds. */
const LONGEST_PAUSE = 1_500;

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isCutOff?: boolean;
}

const scenario =
  ({ outcomes, failures, pets, isAborted = false, delay }: Sizes) =>
  ({ createClient }: Modules) =>
  (world: World) => {
    const shared = world.shared({ pets: [] as readonly { readonly key: string; readonly name: string }[], failed: 0 });
    const controller = new AbortController();
    const reason = new Error('enough');
    /** When a request may be repeated. */
    const notBefore = new Map<string, number>();
    const rejected = new Set<string>();
    /** An error that is thrown in `fetch` would be taken for one of the network. */
    let violation: string | null = null;

    /** The service: a repeated key has the pet that it created. */
    const create = (key: string, name: string): Reply => {
      const known = shared.pets.findIndex((pet) => pet.key === key);
      if (known < 0) shared.pets = [...shared.pets, { key, name }];
      const id = known < 0 ? shared.pets.length : known + 1;
      return { status: 201, body: `{"id":${id},"name":"${name}"}` };
    };
    const serve = (outcome: string, key: string, name: string): Reply | 'no response' => {
      if (outcome !== 'created') shared.failed += 1;
      if (outcome === 'reset') throw new TypeError('fetch failed');
      const reply = outcome === 'created' || outcome.startsWith('created,') ? create(key, name) : null;
      if (outcome === 'created, response lost') throw new TypeError('fetch failed');
      if (outcome === 'created, cut off' && reply !== null) return { ...reply, isCutOff: true };
      if (outcome === 'created, silent') return 'no response';
      if (outcome === '503') return { status: 503, body: '', headers: { 'retry-after': '1' } };
      return reply ?? { status: Number(outcome), body: '{"code":"invalid_request","message":"no"}' };
    };

    async function fetch(_url: string, request: RequestInit): Promise<unknown> {
      const [key, { name }] = [
        String(new Headers(request.headers).get('idempotency-key')),
        JSON.parse(`${request.body}`),
      ];
      if (controller.signal.aborted) violation = 'a request was sent after the abort';
      if (rejected.has(name)) violation = 'a rejected request was repeated';
      if (world.now() < (notBefore.get(name) ?? 0)) violation = 'a request was repeated before Retry-After';
      const signal = request.signal as AbortSignal;
      const possible = shared.failed < failures ? ['created', ...outcomes] : ['created'];
      const run = Object.fromEntries(possible.map((outcome) => [outcome, () => serve(outcome, key, name)]));
      const reply = await unlessAborted(signal, world.command(`request for ${name}`, { run }));
      if (reply === 'no response') return unlessAborted(signal, new Promise(() => {}));
      const { status, body, headers, isCutOff } = reply;
      const read = () => {
        if (isCutOff) throw new TypeError('terminated');
        return body;
      };
      async function text(): Promise<string> {
        const received = await unlessAborted(signal, world.command(`body for ${name}`, { run: read }));
        if (status === 503) notBefore.set(name, world.now() + 1_000);
        if (status === 400) rejected.add(name);
        return received;
      }
      return { ok: status < 400, status, headers: new Headers(headers), text };
    }
    // A run must do the same each time.
    let keys = 0n;
    Object.assign(globalThis, { fetch });
    Object.assign(Math, { random: () => 0.5 });
    Object.assign(crypto, {
      getRandomValues(array: BigUint64Array) {
        keys += 1n;
        return array.fill(keys);
      },
    });

    const client = createClient({ url: 'http://service/v1', key: 'a-key' });
    let open = 0;
    for (const name of pets) {
      world.client(name, [
        async function create(): Promise<void> {
          const start = world.now();
          open += 1;
          const signal = isAborted ? { signal: controller.signal } : {};
          const result = await client
            .createPet({ name, categoryId: 1n }, { timeout: TIMEOUT, ...signal })
            .catch((error: Error) => error);
          open -= 1;
          if (world.now() > start + TIMEOUT + 1) throw new Error(`ended ${world.now() - start} ms after its start`);
          if (result === reason) return;
          if (!(result instanceof Error)) {
            const pet = shared.pets[Number(result.id) - 1];
            if (pet?.name !== name) throw new Error(`${name} got the pet of another call`);
          } else if (!('code' in result)) throw result;
          else if (controller.signal.aborted) throw new Error('an aborted call failed with another error');
          else if (result.code !== 'invalid_request' && world.now() < start + TIMEOUT - LONGEST_PAUSE) {
            throw new Error('a call that failed was not repeated');
          }
        },
      ]);
    }
    if (isAborted) {
      world.event('abort', { may: true, process: 'main', run: () => controller.abort(reason) });
      world.always(() => {
        if (controller.signal.aborted && open > 0) throw new Error('an aborted call continues');
      });
    }
    if (delay !== undefined) {
      const isEarly = () => [...world.timers.values()].every(({ due }) => world.now() + delay <= due);
      world.pass(delay, 3, isEarly);
    }
    world.always(() => {
      if (violation !== null) throw new Error(violation);
      const names = shared.pets.map((pet) => pet.name);
      if (new Set(names).size < names.length) throw new Error(`created twice: ${names}`);
    });
  };

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    work.then(resolve, reject);
  });
}

const trialOf = (title: string, sizes: Sizes, options: TrialOptions = {}) =>
  trial<Modules>(title, [CLIENT], scenario(sizes), { samples: 100, ...options });

const outcomes = ['created, response lost', 'created, cut off', 'created, silent', 'reset', '503', '400'];
const PAUSE = 'const pause = jitter + retryAfter(response);';
const ATTEMPT = '{ ...request, signal: attemptSignal }';
const OWN_KEY = "{ ...request, signal: attemptSignal, headers: { 'idempotency-key': String(attempt) } }";

await trialOf(
  'one pet, 3 failures',
  { outcomes, failures: 3, pets: ['Rex'] },
  {
    errors: [
      ['each attempt has a key of its own', SEND, ATTEMPT, OWN_KEY],
      [
        'the last attempt takes as long as the others',
        SEND,
        'Math.min(ATTEMPT_TIMEOUT, ',
        'Math.max(ATTEMPT_TIMEOUT, ',
      ],
      ['a pause ends after the deadline', SEND, 'isFinal || performance.now() + pause >= deadline', 'isFinal'],
      ['Retry-After is ignored', SEND, PAUSE, 'const pause = jitter;'],
      ['a reset is not repeated', SEND, 'response !== undefined && !RETRIED', 'response === undefined || !RETRIED'],
    ],
  },
);
await trialOf(
  'one pet, 2 failures, an abort',
  { outcomes, failures: 2, pets: ['Rex'], isAborted: true },
  {
    errors: [
      ['an abort ends no attempt', SEND, 'signal === undefined ? attemptTimeout', 'attempt >= 0 ? attemptTimeout'],
      ['an abort ends no pause', SEND, "signal?.addEventListener('abort', end);", ''],
    ],
  },
);
await trialOf('one pet, a failure, 3 times 5 s', { outcomes, failures: 1, pets: ['Rex'], delay: 5_000 });
await trialOf(
  'two pets, a lost response',
  { outcomes: ['created, response lost'], failures: 1, pets: ['Rex', 'Tom'] },
  { errors: [['all calls have the same key', CLIENT, 'idempotencyKey = randomKey()', "idempotencyKey = 'key'"]] },
);
await trialOf('two pets, any failure', { outcomes, failures: 1, pets: ['Rex', 'Tom'] }, { isLarge: true });
