// The catalogue in memory with Express: its JSON parser, a middleware for the key. It validates nothing.
import express from 'express';
import { listening } from './listening.ts';
import { KEY, type Pet } from './pets.ts';

const pets: Pet[] = [];
const app = express();
app.use((request, response, next) => {
  if (request.headers.authorization === `Bearer ${KEY}`) next();
  else response.status(401).json({ code: 'unauthorized' });
});
app.get('/v1/pets', (request, response) => {
  const limit = Number(request.query['limit'] ?? 20);
  const { status } = request.query;
  response.json((status === undefined ? pets : pets.filter((pet) => pet.status === status)).slice(0, limit));
});
app.get('/v1/pets/:petId', (request, response) => {
  const pet = pets[Number(request.params.petId) - 1];
  if (pet) response.json(pet);
  else response.status(404).json({ code: 'pet_not_found' });
});
app.post('/v1/pets', express.json(), (request, response) => {
  const pet: Pet = { id: pets.length + 1, ...request.body };
  pets.push(pet);
  response.status(201).json(pet);
});
const server = app.listen(0, '127.0.0.1', () => listening(server));
