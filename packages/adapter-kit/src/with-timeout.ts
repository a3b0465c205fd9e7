/**
 * Stops waiting for work, which goes on. The timer keeps no process alive.
 *
 * @param timeout In milliseconds.
 * @throws Error whose name is `TimeoutError`; or what the work throws.
 */
export function withTimeout<R>(work: Promise<R>, timeout: number): Promise<R> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(Object.assign(new Error(`no response within ${timeout} ms`), { name: 'TimeoutError' }));
    }, timeout);
    timer.unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
