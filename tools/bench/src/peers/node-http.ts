// The floor: node:http sending prepared bytes, whatever is asked.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const pet = (id: number) => `{"id":${id},"name":"Rex ${id}","categoryId":7,"status":"available"}`;
const pets = (count: number) => `[${Array.from({ length: count }, (_, index) => pet(index + 1)).join(',')}]`;
const bodies = new Map([
  ['/v1/pets', pets(20)],
  ['/v1/pets?limit=100', pets(100)],
]);
const server = createServer((request, response) => {
  const answer = () => {
    const body = bodies.get(request.url ?? '') ?? pet(1);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  };
  if (request.method === 'POST') request.resume().on('end', answer);
  else answer();
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
