// The floor: node:http sends prepared bytes, whatever the request is.
import { createServer } from 'node:http';
import { listening } from './listening.ts';

const pet = (id: number) => `{"id":${id},"name":"Rex ${id}","categoryId":7,"status":"available"}`;
const pets = (count: number) => `[${Array.from({ length: count }, (_, index) => pet(index + 1)).join(',')}]`;
const lists = new Map(Array.from({ length: 100 }, (_, index) => [String(index + 1), pets(index + 1)]));

function bodyFor(url: string): string {
  if (!url.startsWith('/v1/pets/')) return lists.get(/limit=(\d+)/.exec(url)?.[1] ?? '20') as string;
  return pet(1);
}
const server = createServer((request, response) => {
  const respond = (status: number, body: string) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  };
  if (request.method === 'POST') request.resume().on('end', () => respond(201, pet(1)));
  else respond(200, bodyFor(request.url ?? ''));
});
server.listen(0, '127.0.0.1', () => listening(server));
