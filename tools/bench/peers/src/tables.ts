import { MongoClient } from 'mongodb';
import pg from 'pg';

type PetStatus = 'available' | 'pending' | 'sold';

export interface NewPet {
  name: string;
  categoryId: number;
  status?: PetStatus;
}

interface Pet extends NewPet {
  id: number;
}

/** The storage of the handlers. */
interface PetTable {
  list(limit: number, status: PetStatus | undefined): Pet[] | Promise<Pet[]>;
  get(id: number): Pet | undefined | Promise<Pet | undefined>;
  create(pet: NewPet): Pet | Promise<Pet>;
}

function openMemory(): PetTable {
  const pets: Pet[] = [];
  return {
    list: (limit, status) =>
      (status === undefined ? pets : pets.filter((pet) => pet.status === status)).slice(0, limit),
    get: (id) => pets[id - 1],
    create(newPet) {
      const created: Pet = { id: pets.length + 1, ...newPet };
      pets.push(created);
      return created;
    },
  };
}

/** A pet as MongoDB keeps it. */
interface PetDocument extends NewPet {
  _id: number;
}

const fromDocument = ({ _id, ...newPet }: PetDocument): Pet => ({ id: _id, ...newPet });

/**
 * One command of the official driver for each request, a second one for the id of a creation. Writes are acknowledged by the
 * majority, as the service's are.
 */
async function openMongo(): Promise<PetTable> {
  const client = new MongoClient(process.env['MONGODB_URL'] as string, {
    writeConcern: { w: 'majority', journal: true },
  });
  const pets = client.db().collection<PetDocument>('pets');
  const counters = client.db().collection<{ _id: string; last: number }>('counters');
  await pets.createIndex({ status: 1, _id: 1 });
  return {
    async list(limit, status) {
      const found = pets.find(status === undefined ? {} : { status }, { sort: { _id: 1 }, limit, batchSize: limit });
      return (await found.toArray()).map(fromDocument);
    },
    async get(id) {
      const found = await pets.findOne({ _id: id });
      return found === null ? undefined : fromDocument(found);
    },
    async create(newPet) {
      const counter = await counters.findOneAndUpdate(
        { _id: 'pets' },
        { $inc: { last: 1 } },
        { upsert: true, returnDocument: 'after' },
      );
      const created: PetDocument = { _id: counter?.last as number, ...newPet };
      await pets.insertOne(created);
      return fromDocument(created);
    },
  };
}

const COLUMNS = 'id, name, category_id AS "categoryId", status';

const petOf = ({ status, ...pet }: Pet & { status: Pet['status'] | null }): Pet =>
  status === null ? pet : { ...pet, status };

/** One prepared statement of the driver pg for each request, from a pool. Writes are acknowledged once they are in the log. */
async function openPostgres(): Promise<PetTable> {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
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

const OPEN: Readonly<Record<string, () => PetTable | Promise<PetTable>>> = {
  memory: openMemory,
  mongodb: openMongo,
  postgres: openPostgres,
};

/** The table in memory, or on the database that STORAGE names. */
export const table: PetTable = await (OPEN[process.env['STORAGE'] as string] as () => PetTable)();
