// The catalogue on MongoDB with Express and Mongoose: the schema validates, reads are lean.
import express from 'express';
import mongoose from 'mongoose';
import { listening } from './listening.ts';
import { counterSchema, petSchema } from './mongoose-schemas.ts';
import { fromDocument, KEY, type PetDocument, type PetStatus } from './pets.ts';

const PetModel = mongoose.model('Pet', petSchema);
const Counter = mongoose.model('Counter', counterSchema);
await mongoose.connect(process.env['MONGODB_URL'] as string);
await PetModel.init();

const app = express();
app.use((request, response, next) => {
  if (request.headers.authorization === `Bearer ${KEY}`) next();
  else response.status(401).json({ code: 'unauthorized' });
});
app.get('/v1/pets', async (request, response) => {
  const { status, limit = 20 } = request.query;
  const filter = status === undefined ? {} : { status: status as PetStatus };
  const found = await PetModel.find(filter).sort({ _id: 1 }).limit(Number(limit)).lean<PetDocument[]>();
  response.json(found.map(fromDocument));
});
app.get('/v1/pets/:petId', async (request, response) => {
  const found = await PetModel.findById(request.params.petId).lean<PetDocument>();
  if (found) response.json(fromDocument(found));
  else response.status(404).json({ code: 'pet_not_found' });
});
app.post('/v1/pets', express.json(), async (request, response) => {
  const counter = await Counter.findByIdAndUpdate(
    'pets',
    { $inc: { last: 1 } },
    { upsert: true, returnDocument: 'after' },
  );
  const created = await PetModel.create({ ...request.body, _id: counter.last });
  response.status(201).json(fromDocument(created.toObject()));
});
const server = app.listen(0, '127.0.0.1', () => listening(server));
