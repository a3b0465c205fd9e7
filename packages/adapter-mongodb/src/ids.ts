import { type Limits, timeLeft, withTimeout } from '@animal-store/adapter-kit';
import type { ClientSession, Db, Long } from 'mongodb';
import { operationTime } from './limits.ts';

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

/** Ids that this process has reserved. */
interface Reservation {
  size: number;
  /** The next id that is taken, and the one after the last. */
  next: bigint;
  end: bigint;
  readonly expiresAt: number;
}

const NONE: Readonly<Reservation> = { size: 0, next: 0n, end: 0n, expiresAt: Number.POSITIVE_INFINITY };

/** The ids of new pets. A process reserves them ahead, from a counter in the database. */
export function createIds(db: Db) {
  const counters = db.collection<CounterDocument>('counters');
  let latest: Reservation = NONE;
  /** Settles when the reservation that runs has ended; null if none runs. */
  let reserving: Promise<unknown> | null = null;

  /** Reserves ids above all reserved before. What is left of the latest reservation is not used, also if this fails. */
  async function reserve(size: number, session: ClientSession, limits: Limits): Promise<Reservation> {
    const reservation = { ...NONE, expiresAt: performance.now() + TTL };
    // Before the command: `raiseTo` may replace it meanwhile.
    latest = reservation;
    const left = timeLeft(limits);
    const options = { upsert: true, returnDocument: 'after', maxTimeMS: operationTime(limits), session } as const;
    const counted = counters.findOneAndUpdate(COUNTER, { $inc: { last: BigInt(size) } }, options);
    // What comes later is not used.
    const counter = await withTimeout(counted, left);
    const end = BigInt(String((counter as CounterDocument).last)) + 1n;
    return Object.assign(reservation, { size, next: end - BigInt(size), end });
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
      if (performance.now() >= latest.expiresAt) latest = NONE;
      let used = latest;
      if (used.end - used.next < count) {
        const reservation = reserve(Math.max(count, Math.min(GROWTH * used.size, MAX_SIZE)), session, limits);
        const ended = () => {
          reserving = null;
        };
        // Later than `reservation`, so that this call takes its ids first.
        reserving = reservation.then(ended, ended);
        used = await reservation;
      }
      const first = used.next;
      used.next += BigInt(count);
      return first;
    },

    /** The last id that any process has reserved; 0 if none has. */
    async last(limits: Limits): Promise<bigint> {
      const counter = await counters.findOne(COUNTER, { maxTimeMS: operationTime(limits) });
      return BigInt(String(counter?.last ?? 0));
    },

    /**
     * Raises the counter to an id, if it is behind. From the next call on no id is taken that was reserved before. A call that is
     * reserving now takes its own.
     */
    async raiseTo(id: bigint, session: ClientSession, limits: Limits): Promise<void> {
      const options = { upsert: true, session, maxTimeMS: operationTime(limits) };
      await counters.updateOne(COUNTER, { $max: { last: id } }, options);
      latest = NONE;
    },
  };
}
