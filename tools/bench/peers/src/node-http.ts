// The floor: node:http sends prepared bytes, whatever the request is.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
const pet = (id: number, status: string) => `{"id":${id},"name":"Rex ${id}","categoryId":7,"status":"${status}"}`;
const pets = (count: number, status: string) => `[${numbers.slice(0, count).map((id) => pet(id, status))}]`;
/** Prepared lists by status and limit. */
const lists = new Map(
  ['available', 'pending', 'sold'].map((status) => [status, ['', ...numbers.map((count) => pets(count, status))]]),
);
const PET = '{"id":1,"name":"Rex","categoryId":7,"status":"sold"}';

function bodyFor(url: string): string {
  if (url.startsWith('/v1/pets/')) return PET;
  const [, limit = '20', status = 'available'] = /limit=(\d+)(?:&status=(\w+))?/.exec(url) ?? [];
  return lists.get(status)?.[Number(limit)] as string;
}
const server = createServer((request, response) => {
  const respond = (status: number, body: string) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  };
  if (request.method === 'POST') request.resume().on('end', () => respond(201, PET));
  else respond(200, bodyFor(request.url ?? ''));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
