import type { ApiKey } from '@animal-store/domain';

/** The columns of a table of keys. */
export const KEY_COLUMNS = ['id', 'visiblePrefix', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt', 'holder'];

/** An API key for administrators, without its digest. Dates are in ISO 8601, null if there is none. */
export function printedKey({ id, visiblePrefix, holder, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey) {
  const date = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds).toISOString());
  return {
    id,
    visiblePrefix,
    holder,
    createdAt: date(createdAt),
    expiresAt: date(expiresAt),
    revokedAt: date(revokedAt),
    lastUsedAt: date(lastUsedAt),
  };
}
