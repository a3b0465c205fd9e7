// The least that a catalogue in memory can take: a Map of objects, as JSON.parse makes them, behind node:http.
import { createServer } from 'node:http';
import { listening } from './listening.ts';
import type { Pet } from './pets.ts';

const pets = new Map<number, Pet>();
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const id = pets.size + 1;
    const pet: Pet = { id, ...JSON.parse(body) };
    pets.set(id, pet);
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(pet));
  });
});
server.listen(0, '127.0.0.1', () => listening(server));
