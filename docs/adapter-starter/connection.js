import { BUDGET, createBatches, otherDatabase, timeLeft } from '@animal-store/adapter-kit';
import { StorageMisconfigured, unavailable } from '@animal-store/domain/ports';

/** Opens a place of the engine. `send` resolves to the result of an operation, in batches of all calls. */
export async function connect({ url, password }, method) {
  const closing = new AbortController();

  async function request(method, deadline, body) {
    // Not AbortSignal.timeout: its timer goes on after the response, also when the storage is closed.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error('no response in time')), timeLeft(deadline));
    const signal = AbortSignal.any([closing.signal, late.signal]);
    const headers = { authorization: `Bearer ${password}` };
    try {
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

  // No call waits for an opening for longer than it may take: the limit of this request is its own.
  const place = await request(method, performance.now() + BUDGET.driver);
  // The engine begins nothing after the timeout, and nothing in another place with the same name.
  const work = (operations, deadline) => request('POST', deadline, { place, timeout: timeLeft(deadline), operations });
  return { send: createBatches(work, { maxItems: 100, parallel: 4 }), close: () => closing.abort() };
}

/** For the operator. A StorageMisconfigured says that waiting is no help. */
function failureOf(status) {
  if (status === 401) return new StorageMisconfigured('the engine rejects the password');
  if (status === 403) return new StorageMisconfigured('the password gives no right to write');
  if (status === 404) return new StorageMisconfigured('there is no such shelf', { mayPass: true });
  if (status === 412) return otherDatabase();
  return new Error(`the engine responded with ${status}`);
}
