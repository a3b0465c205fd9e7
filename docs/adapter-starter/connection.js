import { createBatches, otherDatabase, timeLeft } from '@animal-store/adapter-kit';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';

/** Opens a place of the engine. `send` resolves to the result of an operation, in batches of all calls. */
export async function connect({ url, password }, method, limits) {
  async function request(method, timeout, body) {
    const headers = { authorization: `Bearer ${password}` };
    const controller = new AbortController();
    // AbortSignal.timeout has a timer that goes on after the response, and after the storage is closed.
    const timer = setTimeout(() => controller.abort(), timeout);
    try {
      const { signal } = controller;
      const response = await fetch(url, { method, headers, body: JSON.stringify(body), signal });
      if (response.ok) return await response.json();
      await response.body?.cancel();
      throw failureOf(response.status);
    } catch (failure) {
      // All failures of requests: fetch throws a TypeError if there is no network, which is no defect.
      throw unavailable(failure);
    } finally {
      clearTimeout(timer);
    }
  }

  const place = await request(method, timeLeft(limits));
  // The engine begins nothing after the timeout, and nothing in another place with the same name.
  function work(operations, limits) {
    const timeout = timeLeft(limits);
    return request('POST', timeout, { place, timeout, operations });
  }
  return { send: createBatches(work, { maxItems: 100, parallel: 4 }) };
}

/** For the operator. A StorageMisconfigured says that waiting is no help. */
function failureOf(status) {
  if (status === 401) return new StorageMisconfigured('the engine rejects the password');
  if (status === 403) return new StorageMisconfigured('the password gives no right to write');
  if (status === 404) return new StorageMisconfigured('there is no such shelf');
  if (status === 412) return otherDatabase();
  return new Error(`the engine responded with ${status}`);
}
