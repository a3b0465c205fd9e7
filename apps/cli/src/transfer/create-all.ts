import { DomainError, type IdempotencyKey } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';
import { MESSAGES } from '../messages.ts';
import { createPace, type Pace } from './pace.ts';
import type { PetOfFile, TransferEvents } from './read-pets.ts';

/** Creations go on when this share of those that may be in flight is: waking up for each would cost more. */
const LOW_WATER = 0.75;

/** How long a creation is tried again while the storage is unavailable, in milliseconds: longer than an election. */
const RETRY_FOR = 30_000;

/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE = 2_000;

/** Where pets are created. */
export interface Destination {
  readonly catalogue: AwaitableCatalogue;
  /** The idempotency key of a line. */
  keyOf(line: number): IdempotencyKey;
  /** No further creation begins, and none is tried again, after it was aborted. */
  readonly signal: AbortSignal;
}

/**
 * Creates pets, many at a time and in their order, as far as the storage keeps it.
 *
 * Settles once nothing is in flight any more. Rejects with the error of the storage, or that of reading.
 */
export async function createAll(
  arrays: AsyncIterable<readonly PetOfFile[]>,
  { catalogue, keyOf, signal }: Destination,
  { onDone, onRejected }: TransferEvents,
): Promise<void> {
  let inFlight = 0;
  let stopped = false;
  let failure: unknown = null;
  let capacityFreed = () => {};
  let lowWater = 0;
  const pace = createPace();

  const untilInFlight = (count: number) => {
    lowWater = count;
    return new Promise<void>((resolve) => {
      capacityFreed = resolve;
    });
  };

  async function create({ line, lastLine, pet }: PetOfFile): Promise<void> {
    try {
      const { created } = await createWithRetry(() => catalogue.createPet(pet, keyOf(line)), pace, signal);
      pace.onDone();
      onDone(created);
    } catch (error) {
      if (DomainError.is(error) && (error.code === 'invalid' || error.code === 'idempotency_key_reused')) {
        stopped ||= !onRejected({ line, lastLine }, reasonOf(error));
      } else {
        failure ??= error;
        stopped = true;
      }
    }
    inFlight -= 1;
    if (inFlight <= lowWater) capacityFreed();
  }

  try {
    for await (const pets of arrays) {
      for (const each of pets) {
        if (stopped || signal.aborted) break;
        if (each.error !== null) {
          stopped ||= !onRejected(each, each.error);
          continue;
        }
        inFlight += 1;
        void create(each);
        if (inFlight >= pace.limit()) await untilInFlight(pace.limit() * LOW_WATER);
      }
      if (stopped || signal.aborted) break;
    }
  } finally {
    if (inFlight > 0) await untilInFlight(0);
  }
  if (failure !== null) throw failure;
}

/** Repeats a creation while the storage is unavailable: its idempotency key makes that safe. */
async function createWithRetry<T>(create: () => T, pace: Pace, signal: AbortSignal): Promise<Awaited<T>> {
  let end: number | null = null;
  for (let pause = 100; ; pause = Math.min(pause * 2, MAX_PAUSE)) {
    try {
      return await create();
    } catch (error) {
      if (!isTransient(error)) throw error;
      pace.onOverload();
      end ??= performance.now() + RETRY_FOR;
      if (signal.aborted || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
    }
  }
}

function isTransient(error: unknown): boolean {
  return DomainError.is(error) && error.code === 'storage_unavailable' && !StorageMisconfigured.is(error.cause);
}

function reasonOf({ code, message }: DomainError): string {
  return code === 'invalid' ? message : MESSAGES.otherPetImported;
}
