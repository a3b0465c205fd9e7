import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { json } from 'node:stream/consumers';
import { createBatches, otherDatabase, timeLeft } from '@animal-store/adapter-kit';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';

/** Opens a place of the engine. `send` resolves to the result of an operation, in batches of all calls. */
export async function connect({ url, password }, method, limits) {
  const { request: requestOf, Agent } = url.protocol === 'https:' ? https : http;
  // Not `fetch`: that of Node.js 22 replaces the connection of a request that was aborted, and keeps the new one.
  const agent = new Agent({ keepAlive: true });

  async function request(method, timeout, body) {
    const headers = { authorization: `Bearer ${password}` };
    const sent = requestOf(url, { method, headers, agent }).on('error', () => {});
    const timer = setTimeout(() => sent.destroy(new Error(`no response within ${timeout} ms`)), timeout);
    try {
      sent.end(JSON.stringify(body));
      const [response] = await once(sent, 'response');
      if (response.statusCode < 300) return await json(response);
      response.resume();
      throw failureOf(response.statusCode);
    } catch (failure) {
      throw unavailable(failure);
    } finally {
      clearTimeout(timer);
    }
  }

  const place = await request(method, timeLeft(limits)).catch((failure) => {
    agent.destroy();
    throw failure;
  });
  // The engine begins nothing after the timeout, and nothing in another place with the same name.
  function work(operations, limits) {
    const timeout = timeLeft(limits);
    return request('POST', timeout, { place, timeout, operations });
  }
  return { send: createBatches(work, { maxItems: 100, parallel: 4 }), close: () => agent.destroy() };
}

/** For the operator. A StorageMisconfigured says that waiting is no help. */
function failureOf(status) {
  if (status === 401) return new StorageMisconfigured('the engine rejects the password');
  if (status === 403) return new StorageMisconfigured('the password gives no right to write');
  if (status === 404) return new StorageMisconfigured('there is no such shelf');
  if (status === 412) return otherDatabase();
  return new Error(`the engine responded with ${status}`);
}
