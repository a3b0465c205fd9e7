import { DomainError } from '@animal-store/domain';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import type { Awaitable } from '@animal-store/domain/transport';
import { MESSAGES } from '../messages.ts';
import { UnreadableRecord } from '../pet-files/pet-format.ts';
import type { PetOfFile } from '../pet-files/read-pets.ts';
import type { Tally } from './tally.ts';

/** How many pets are in flight at most: some batches of a storage, so that it always has the next one. */
const MAX_IN_FLIGHT = 4_000;

/** How many are in flight at most after the storage was unavailable. */
const MIN_IN_FLIGHT = 50;

/** Each accepted pet raises the number by this. */
const GROWTH = 0.1;

/** Reading continues when this share of the maximum is in flight: continuing for each pet would cost more. */
const LOW_WATER = 0.75;

/** How long a pet is tried again while the storage is unavailable, in milliseconds: longer than an election. */
const RETRY_FOR = 30_000;

/** The mean pause between two tries, in milliseconds. */
const PAUSE = 1_000;

/** The destination of the pets of a file. */
export interface Destination {
  /** Creates a pet, or only checks it. It is called again while the storage is unavailable. */
  accept(pet: unknown, line: number): Awaitable<{ readonly created: boolean }>;
  readonly tally: Tally;
  /** No further pet is accepted, and none is tried again, after it was aborted. */
  readonly signal: AbortSignal;
}

/**
 * Passes on pets, many at a time and in their order, until the tally is full. Settles once nothing is in flight.
 * Throws the reason of the signal if it is aborted before the last pet, or the error of the storage, or of reading.
 */
export async function transferPets(
  chunks: AsyncIterable<Iterable<PetOfFile>>,
  { accept, tally, signal }: Destination,
): Promise<void> {
  let limit = MAX_IN_FLIGHT;
  let inFlight = 0;
  let onSettled = () => {};
  let failure: unknown = null;

  async function untilInFlight(count: number): Promise<void> {
    while (inFlight > count) {
      await new Promise<void>((resolve) => {
        onSettled = resolve;
      });
    }
  }

  async function transfer(each: PetOfFile): Promise<void> {
    inFlight += 1;
    for (let failedAt: number | null = null; ; ) {
      try {
        if (each.error !== null) throw new UnreadableRecord(each.error);
        const { created } = await accept(each.pet, each.line);
        limit = Math.min(limit + GROWTH, MAX_IN_FLIGHT);
        tally.add(created);
        break;
      } catch (error) {
        failedAt ??= performance.now();
        if (!isTransient(error) || signal.aborted || performance.now() - failedAt > RETRY_FOR) {
          onFailed(each, error);
          break;
        }
        limit = MIN_IN_FLIGHT;
        await new Promise((resolve) => setTimeout(resolve, PAUSE * (0.5 + Math.random())));
      }
    }
    inFlight -= 1;
    onSettled();
  }

  function onFailed(each: PetOfFile, error: unknown): void {
    const reason = rejectionReason(error);
    if (reason === null) failure ??= error;
    else tally.reject(each, reason);
  }

  async function transferEach(): Promise<void> {
    for await (const pets of chunks) {
      for (const each of pets) {
        if (failure !== null || tally.isFull) return;
        if (signal.aborted) throw signal.reason;
        void transfer(each);
        if (inFlight >= limit) await untilInFlight(limit * LOW_WATER);
      }
    }
  }

  try {
    await transferEach();
  } finally {
    await untilInFlight(0);
  }
  if (failure !== null) throw failure;
}

function isTransient(error: unknown): boolean {
  return DomainError.is(error) && error.code === 'storage_unavailable' && !StorageMisconfigured.is(error.cause);
}

/** Why a pet was rejected; null if the error is not about the pet. */
function rejectionReason(error: unknown): string | null {
  if (error instanceof UnreadableRecord) return error.message;
  if (!DomainError.is(error)) return null;
  if (error.code === 'idempotency_key_reused') return MESSAGES.otherPetImported;
  return error.code === 'invalid' ? error.message : null;
}
