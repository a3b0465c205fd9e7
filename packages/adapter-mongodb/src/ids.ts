import { type Limits, timeLeft, withTimeout } from '@animal-store/adapter-kit';
import type { ClientSession, Db, Long } from 'mongodb';
import { requireTime } from './limits.ts';

/** The last id that any process has reserved. */
interface CounterDocument {
  readonly _id: 'pets';
  /** An int64, written as a bigint, and read as the options of the client say. */
  readonly last: bigint | number | Long;
}

const COUNTER = { _id: 'pets' } as const;

/** How many ids one reservation has at most, unless one call takes more. */
const MAX_SIZE = 1_000;

/** How many times larger than the last reservation the next one is, if the last one was used up in time. */
const GROWTH = 8;

/** Reservations expire after 1 s, so that no process assigns ids far below those that others have reached. */
const TTL = 1_000;

/** The ids of new pets. A process reserves them ahead, from a counter in the database. */
export function createIds(db: Db) {
  const counters = db.collection<CounterDocument>('counters');
  /** The latest reservation: how many ids it had, the next that will be taken, and the one after its last. */
  let size = 0;
  let next = 0n;
  let end = 0n;
  let expiresAt = 0;
  /** Settles when the reservation that runs has ended; null if none runs. */
  let reserving: Promise<unknown> | null = null;

  /** Reserves ids above all reserved before. What is left of the latest reservation is not used, also if this fails. */
  async function reserve(count: number, session: ClientSession, limits: Limits): Promise<void> {
    next = end;
    // Before the command: `raiseTo` may set it to 0 meanwhile.
    expiresAt = performance.now() + TTL;
    const left = timeLeft(limits);
    const options = { upsert: true, returnDocument: 'after', maxTimeMS: requireTime(limits), session } as const;
    const reservation = counters.findOneAndUpdate(COUNTER, { $inc: { last: BigInt(count) } }, options);
    // What comes later is not used.
    const counter = await withTimeout(reservation, left);
    end = BigInt(String((counter as CounterDocument).last)) + 1n;
    next = end - BigInt(count);
    size = count;
  }

  return {
    /**
     * Takes ids that follow each other, above those of every earlier call. Returns the first of them. One reservation runs at a
     * time; the calls that wait for it continue in their order, each with what the one before it has left.
     *
     * @throws DomainError `storage_unavailable` if ids are to be reserved when the call has ended.
     */
    async take(count: number, session: ClientSession, limits: Limits): Promise<bigint> {
      while (reserving !== null) await reserving;
      if (performance.now() >= expiresAt) {
        size = 0;
        next = end;
      }
      if (end - next < count) {
        const reservation = reserve(Math.max(count, Math.min(GROWTH * size, MAX_SIZE)), session, limits);
        const ended = () => {
          reserving = null;
        };
        // Later than `reservation`, so that this call takes its ids first.
        reserving = reservation.then(ended, ended);
        await reservation;
      }
      const first = next;
      next += BigInt(count);
      return first;
    },

    /** The last id that any process has reserved; 0 if none has. */
    async last(limits: Limits): Promise<bigint> {
      const counter = await counters.findOne(COUNTER, { maxTimeMS: requireTime(limits) });
      return BigInt(String(counter?.last ?? 0));
    },

    /**
     * Raises the counter to an id, if it is behind. From the next call on no id is taken that was reserved before. A call that is
     * reserving now takes its own.
     */
    async raiseTo(id: bigint, session: ClientSession, limits: Limits): Promise<void> {
      const options = { upsert: true, session, maxTimeMS: requireTime(limits) };
      await counters.updateOne(COUNTER, { $max: { last: id } }, options);
      expiresAt = 0;
    },
  };
}
