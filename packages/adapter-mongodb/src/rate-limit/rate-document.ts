import type { CollectionDefinition } from '../connection/collection-definition.ts';

/** How many requests of a holder were counted in its present window. */
export interface RateDocument {
  /** The holder's name. */
  readonly _id: string;
  readonly used: number;
  readonly endsAt: Date;
  /** When the last of them was counted, by the server's clock. */
  readonly countedAt: Date;
}

export const RATE_COLLECTION: CollectionDefinition = {
  name: 'rates',
  schema: {
    required: ['_id', 'used', 'endsAt', 'countedAt'],
    properties: {
      _id: { bsonType: 'string' },
      used: { bsonType: ['int', 'long'] },
      endsAt: { bsonType: 'date' },
      countedAt: { bsonType: 'date' },
    },
  },
  // The server removes windows that have ended, within a minute or so.
  indexes: [{ key: { endsAt: 1 }, expireAfterSeconds: 0 }],
};
