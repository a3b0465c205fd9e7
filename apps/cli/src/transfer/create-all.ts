import { DomainError, type IdempotencyKey } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import type { AwaitableCatalogue } from '@animal-store/domain/transport';
import { MESSAGES } from '../messages.ts';
import type { PetOfFile } from '../pet-files/read-pets.ts';
import type { Tally } from './tally.ts';

/** How many creations are in flight at most: some batches of a storage, so that it always has the next one. */
const MAX_IN_FLIGHT = 4_000;

/** How many are in flight at most after the storage was unavailable. */
const MIN_IN_FLIGHT = 50;

/** How much each completed creation raises that number. */
const GROWTH = 0.1;

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
  readonly tally: Tally;
  /** No further creation begins, and none is tried again, after it was aborted. */
  readonly signal: AbortSignal;
}

/**
 * Creates pets, many at a time and in their order, as far as the storage keeps it.
 *
 * Settles once nothing is in flight any more.
 *
 * @throws The reason of the signal if it is aborted before the last pet begins; the error of the storage, or of reading.
 */
export async function createAll(
  chunks: AsyncIterable<Iterable<PetOfFile>>,
  { catalogue, keyOf, tally, signal }: Destination,
): Promise<void> {
  let limit = MAX_IN_FLIGHT;
  let inFlight = 0;
  let lowWater = 0;
  let capacityFreed = () => {};
  let failure: unknown = null;

  const untilInFlight = (count: number) => {
    lowWater = count;
    return new Promise<void>((resolve) => {
      capacityFreed = resolve;
    });
  };

  async function create(each: PetOfFile): Promise<void> {
    inFlight += 1;
    try {
      const { created } = await createWithRetry(each);
      limit = Math.min(limit + GROWTH, MAX_IN_FLIGHT);
      tally.add(created);
    } catch (error) {
      const reason = rejectionReason(error);
      if (reason === null) failure ??= error;
      else tally.reject(each, reason);
    }
    inFlight -= 1;
    if (inFlight <= lowWater) capacityFreed();
  }

  /** The idempotency key makes it safe to repeat a creation while the storage is unavailable. */
  async function createWithRetry({ pet, line }: PetOfFile): Promise<{ created: boolean }> {
    let end: number | null = null;
    for (let pause = 100; ; pause = Math.min(pause * 2, MAX_PAUSE)) {
      try {
        return await catalogue.createPet(pet, keyOf(line));
      } catch (error) {
        if (!isTransient(error)) throw error;
        limit = MIN_IN_FLIGHT;
        end ??= performance.now() + RETRY_FOR;
        if (signal.aborted || performance.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
      }
    }
  }

  async function createEach(): Promise<void> {
    for await (const pets of chunks) {
      for (const each of pets) {
        if (failure !== null || tally.isFull) return;
        signal.throwIfAborted();
        if (each.error === null) void create(each);
        else tally.reject(each, each.error);
        if (inFlight >= limit) await untilInFlight(limit * LOW_WATER);
      }
    }
  }

  try {
    await createEach();
  } finally {
    if (inFlight > 0) await untilInFlight(0);
  }
  if (failure !== null) throw failure;
}

function isTransient(error: unknown): boolean {
  return DomainError.is(error) && error.code === 'storage_unavailable' && !StorageMisconfigured.is(error.cause);
}

/** Why a pet was rejected; null if the error is not about the pet. */
function rejectionReason(error: unknown): string | null {
  if (!DomainError.is(error)) return null;
  if (error.code === 'idempotency_key_reused') return MESSAGES.otherPetImported;
  return error.code === 'invalid' ? error.message : null;
}
