/** The time limit of a call in milliseconds: a call and its key's lookup together end within the 5 seconds of the ports. */
export const CALL_TIMEOUT = 2_200;

/** Stops waiting for work, which goes on, after a timeout in milliseconds. The timer keeps no process alive. */
export function withTimeout<R>(work: Promise<R>, timeout: number): Promise<R> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(Object.assign(new Error(`no response within ${timeout} ms`), { name: 'TimeoutError' }));
    }, timeout);
    timer.unref();
    // Not `finally`, which makes more promises for each call.
    const end = () => clearTimeout(timer);
    work.then(end, end);
    work.then(resolve, reject);
  });
}
