import type { Pet, PetStatus } from '@animal-store/domain';
import { fromStored } from '../connection/text.ts';

const COLUMNS = 'id, name, category_id, status';

/** The first pets of several lists, each of those that begin after an id. */
const pages = (condition: string, order: string) => `SELECT page, pet.*
  FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY AS given (after, size, wanted, page)
  CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM pets WHERE ${condition} ORDER BY ${order} LIMIT size) AS pet
  ORDER BY page, id`;

export const PET_SQL = {
  // The order of the keys prevents deadlocks of processes that repeat the same creations.
  create: `INSERT INTO pets (id, name, category_id, status, idempotency_holder, idempotency_key, idempotency_fingerprint)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
      AS given (id, name, category_id, status, holder, key, fingerprint)
    ORDER BY holder, key, id
    ON CONFLICT (idempotency_holder, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id`,
  findCreated: `SELECT given.number, idempotency_fingerprint = fingerprint, ${COLUMNS}
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS given (holder, key, fingerprint, number)
    JOIN pets ON idempotency_holder = holder AND idempotency_key = key`,
  find: `SELECT ${COLUMNS} FROM pets WHERE id = ANY ($1::bigint[])`,
  list: pages('id > after', 'id'),
  // Only one index has this order, so its choice does not depend on the number of pets with the status.
  listByStatus: pages('(status, id) > (wanted, after) AND status <= wanted', 'status, id'),
  // New ids are above all stored ones, because pets may have been restored without the counter.
  reserveIds: `UPDATE animal_store SET last_pet_id = greatest(last_pet_id, (SELECT max(id) FROM pets)) + $1
    WHERE only_row RETURNING last_pet_id`,
} as const;

/** {@link COLUMNS} */
export type PetRow = readonly [id: string | bigint, name: string, categoryId: string | bigint, PetStatus | null];

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  const pet = { id: BigInt(id), name: fromStored(name), categoryId: BigInt(categoryId) };
  return status === null ? pet : { ...pet, status };
}
