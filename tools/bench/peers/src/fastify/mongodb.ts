// One command of the official driver for each request, a second one for the id of a creation. Writes are acknowledged by the
// majority, as the service's are.
import { MongoClient } from 'mongodb';
import { fromDocument, type PetDocument, type PetTable } from '../pets.ts';

export async function openTable(): Promise<PetTable> {
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
