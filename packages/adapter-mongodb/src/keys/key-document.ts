import type { ApiKey } from '@animal-store/domain';
import type { CollectionDefinition } from '../connection/collection-definition.ts';

/** The record of an API key as it is stored. */
export interface KeyDocument {
  /** {@link ApiKey.id} */
  readonly _id: string;
  readonly digest: string;
  readonly visiblePrefix: string;
  readonly holder: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

const date = { bsonType: 'date' };
const dateOrNull = { bsonType: ['date', 'null'] };

/** The order of the list of all keys; two of the same time stand in the order of their ids. */
export const BY_AGE = { createdAt: 1, _id: 1 } as const;

export const KEY_COLLECTION: CollectionDefinition = {
  name: 'api_keys',
  schema: {
    required: ['_id', 'digest', 'visiblePrefix', 'holder', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'],
    properties: {
      _id: { bsonType: 'string' },
      digest: { bsonType: 'string', minLength: 64, maxLength: 64, pattern: '^[0-9a-f]{64}' },
      visiblePrefix: { bsonType: 'string' },
      holder: { bsonType: 'string' },
      createdAt: date,
      expiresAt: dateOrNull,
      revokedAt: dateOrNull,
      lastUsedAt: dateOrNull,
    },
  },
  indexes: [{ key: { digest: 1 }, unique: true }, { key: BY_AGE }],
};

export function keyDocument(key: ApiKey): KeyDocument {
  return {
    _id: key.id,
    digest: key.digest,
    visiblePrefix: key.visiblePrefix,
    holder: key.holder,
    createdAt: dateOf(key.createdAt),
    expiresAt: key.expiresAt === null ? null : dateOf(key.expiresAt),
    revokedAt: key.revokedAt === null ? null : dateOf(key.revokedAt),
    lastUsedAt: key.lastUsedAt === null ? null : dateOf(key.lastUsedAt),
  };
}

/** Frozen, so that it can be handed out more than once. */
export function apiKeyOf(document: KeyDocument): ApiKey {
  return Object.freeze({
    id: document._id,
    digest: document.digest,
    visiblePrefix: document.visiblePrefix,
    holder: document.holder,
    createdAt: document.createdAt.getTime(),
    expiresAt: document.expiresAt?.getTime() ?? null,
    revokedAt: document.revokedAt?.getTime() ?? null,
    lastUsedAt: document.lastUsedAt?.getTime() ?? null,
  });
}

const LAST_DATE = 8.64e15;

/**
 * The date of a timestamp. One after the last that a Date can hold (in the year 275760) becomes the last: the driver would
 * store 1970.
 */
export function dateOf(timestamp: number): Date {
  return new Date(Math.min(timestamp, LAST_DATE));
}
