// The catalogue as one would write it with Express. It checks little, and has no exact 64-bit integers, digests,
// idempotency or pages.
import type { AddressInfo } from 'node:net';
import express from 'express';
import { type Animal, KEY } from './catalogue.ts';

const animals: Animal[] = [];
const app = express();
app.use((request, response, next) => {
  if (request.headers.authorization === `Bearer ${KEY}`) next();
  else response.status(401).json({ code: 'unauthorized' });
});
app.get('/v1/pets', (request, response) => {
  const limit = Number(request.query['limit'] ?? 20);
  const { status } = request.query;
  response.json((status === undefined ? animals : animals.filter((one) => one.status === status)).slice(0, limit));
});
app.get('/v1/pets/:petId', (request, response) => {
  const animal = animals[Number(request.params.petId) - 1];
  if (animal) response.json(animal);
  else response.status(404).json({ code: 'pet_not_found' });
});
app.post('/v1/pets', express.json(), (request, response) => {
  const animal = { id: animals.length + 1, ...request.body } as Animal;
  animals.push(animal);
  response.status(201).json(animal);
});
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
