// The catalogue in memory with Hono on Node.js: its bearer authentication and its validator.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { validator } from 'hono/validator';
import { listening } from './listening.ts';
import { KEY, type NewPet, type Pet } from './pets.ts';

const pets: Pet[] = [];
const app = new Hono();
app.use('/v1/*', bearerAuth({ token: KEY }));
app.get('/v1/pets', (c) => {
  const limit = Number(c.req.query('limit') ?? 20);
  const status = c.req.query('status');
  return c.json((status === undefined ? pets : pets.filter((pet) => pet.status === status)).slice(0, limit));
});
app.get('/v1/pets/:petId', (c) => {
  const pet = pets[Number(c.req.param('petId')) - 1];
  return pet === undefined ? c.json({ code: 'pet_not_found' }, 404) : c.json(pet);
});
const newPet = validator('json', (body, c) =>
  typeof body['name'] === 'string' && Number.isInteger(body['categoryId'])
    ? (body as NewPet)
    : c.json({ code: 'invalid_request' }, 400),
);
app.post('/v1/pets', newPet, (c) => {
  const pet: Pet = { id: pets.length + 1, ...c.req.valid('json') };
  pets.push(pet);
  return c.json(pet, 201);
});
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => listening(server));
