// One prepared statement of the driver pg for each request, from a pool. Writes are acknowledged once they are in the log.
import pg from 'pg';
import type { Pet, PetTable } from '../pets.ts';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);

const COLUMNS = 'id, name, category_id AS "categoryId", status';

const petOf = ({ status, ...pet }: Pet & { status: Pet['status'] | null }): Pet =>
  status === null ? pet : { ...pet, status };

export async function openTable(): Promise<PetTable> {
  const pool = new pg.Pool({ connectionString: process.env['POSTGRES_URL'] as string });
  await pool.query(`CREATE TABLE IF NOT EXISTS pets (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, category_id bigint NOT NULL, status text)`);
  await pool.query('CREATE INDEX IF NOT EXISTS pets_by_status ON pets (status, id)');
  const query = async (name: string, text: string, values: unknown[]) =>
    (await pool.query({ name, text, values })).rows.map(petOf);
  return {
    list: (limit, status) =>
      status === undefined
        ? query('list', `SELECT ${COLUMNS} FROM pets ORDER BY id LIMIT $1`, [limit])
        : query('listByStatus', `SELECT ${COLUMNS} FROM pets WHERE status = $2 ORDER BY id LIMIT $1`, [limit, status]),
    get: async (id) => (await query('get', `SELECT ${COLUMNS} FROM pets WHERE id = $1`, [id]))[0],
    async create({ name, categoryId, status }) {
      const values = [name, categoryId, status ?? null];
      const text = `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`;
      return (await query('create', text, values))[0] as Pet;
    },
  };
}
