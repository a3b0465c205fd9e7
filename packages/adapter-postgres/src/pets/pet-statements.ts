import type { Pet, PetStatus } from '@animal-store/domain';
import { fromStored } from '../connection/text.ts';

/**
 * A pet as one text: `7 1 sold Rex`, or `7 1  Rex` without a status. The name comes last, because it may have spaces. Each
 * value of a response takes the driver as long as a hundred characters.
 */
const PET = "concat_ws(' ', id, category_id, coalesce(status, ''), name)";

/** The pets of a page as a JSON array. */
const page = (condition: string, order: string, limit: string) =>
  `to_json(ARRAY(SELECT ${PET} FROM pets WHERE ${condition} ORDER BY ${order} LIMIT ${limit}))`;

/** A page that begins after an id. */
const onePage = (condition: string, order: string) => `SELECT ${page(condition, order, '$2')}`;

/** Several pages, each of those that begin after an id. */
const pages = (condition: string, order: string) => `SELECT ${page(condition, order, 'size')}
  FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY AS given (after, size, wanted, number)
  ORDER BY number`;

/** Only one index has the order `status, id`, so its choice does not depend on the number of pets with the status. */
const hasStatus = (status: string, after: string) => `(status, id) > (${status}, ${after}) AND status <= ${status}`;

const INSERT = `INSERT INTO pets
  (id, category_id, status, name, idempotency_holder, idempotency_key, idempotency_fingerprint)`;
const UNLESS_REPEATED = `ON CONFLICT (idempotency_holder, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
  RETURNING id`;

/** A page or a new pet alone has a statement without arrays: its response comes after 65 or 85 % of the time. */
export const PET_SQL = {
  create: `${INSERT} VALUES ($1, $2, $3, $4, $5, $6, $7) ${UNLESS_REPEATED}`,
  // The order of the keys prevents deadlocks of processes that repeat the same creations.
  createSeveral: `${INSERT}
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
      AS given (id, category_id, status, name, holder, key, fingerprint)
    ORDER BY holder, key, id
    ${UNLESS_REPEATED}`,
  findCreated: `SELECT given.number, idempotency_fingerprint = fingerprint, ${PET}
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS given (holder, key, fingerprint, number)
    JOIN pets ON idempotency_holder = holder AND idempotency_key = key`,
  find: `SELECT ${PET} FROM pets WHERE id = ANY ($1::bigint[])`,
  list: onePage('id > $1', 'id'),
  listSeveral: pages('id > after', 'id'),
  listByStatus: onePage(hasStatus('$3', '$1'), 'status, id'),
  listSeveralByStatus: pages(hasStatus('wanted', 'after'), 'status, id'),
  // New ids are above all stored ones, because pets may have been restored without the counter.
  reserveIds: `UPDATE animal_store SET last_pet_id = greatest(last_pet_id, (SELECT max(id) FROM pets)) + $1
    WHERE only_row RETURNING last_pet_id`,
} as const;

/** Decodes {@link PET}. A status that this version doesn't know is returned as it is stored. */
export function petOf(stored: string): Pet {
  const [, id = '', categoryId = '', status, name] = /^(\d+) (-?\d+) (\S*) (.*)/s.exec(stored) ?? [];
  if (name === undefined) throw new Error('a stored pet cannot be decoded');
  const pet = { id: BigInt(id), name: fromStored(name), categoryId: BigInt(categoryId) };
  return status === '' ? pet : { ...pet, status: status as PetStatus };
}
