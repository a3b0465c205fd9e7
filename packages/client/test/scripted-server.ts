import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** How a server responds to one request. */
export type Step = (response: ServerResponse, request: IncomingMessage) => void;

/** A request as it arrived. */
interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that takes one step for each request, and repeats the last. It ends with the running test. */
export async function startServer(...steps: readonly Step[]): Promise<{ url: string; requests: readonly Received[] }> {
  const requests: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const index = requests.push({ method, url, headers, body: '' }) - 1;
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    requests[index] = { method, url, headers, body };
    steps[Math.min(index, steps.length - 1)]?.(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

export const respond =
  (status: number, body: unknown, headers: Record<string, string> = {}): Step =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

export const fail = (status: number, code: string, headers: Record<string, string> = {}): Step =>
  respond(status, { code, message: `the message of ${code}`, status }, { 'x-request-id': 'request-7', ...headers });

export const reset: Step = (response) => response.destroy();

/** The connection ends in the middle of the body. */
export const cut: Step = (response) => {
  response.writeHead(201, { 'content-length': '1000' });
  response.write('{"id":1,', () => response.destroy());
};

export const silent: Step = () => {};
