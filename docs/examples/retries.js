import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { BASE_URL, API_KEY } = process.env;
const REPEATED = new Set([408, 429, 500, 502, 503, 504]);

/** Sends a request until it gets a response that repeating does not change. */
async function send(url, options, seconds = 30) {
  const deadline = Date.now() + seconds * 1_000;
  for (let attempt = 1; ; attempt += 1) {
    let failure;
    let least = 0;
    try {
      const response = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) });
      // The connection can break in the body, too.
      const body = await response.text();
      if (!REPEATED.has(response.status)) return { status: response.status, body };
      failure = new Error(`${response.status} ${body}`);
      least = retryAfter(response.headers.get('retry-after') ?? '0');
    } catch (error) {
      failure = error;
    }
    const pause = least + Math.random() * Math.min(5_000, 100 * 2 ** attempt);
    if (Date.now() + pause > deadline) throw failure;
    await sleep(pause);
  }
}

/** Seconds, or a date, which a proxy may send, as milliseconds from now. */
function retryAfter(field) {
  const pause = /^\d+$/.test(field) ? Number(field) * 1_000 : Date.parse(field) - Date.now();
  return Math.max(0, pause || 0);
}

const { status, body } = await send(`${BASE_URL}/pets`, {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${API_KEY}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  },
  body: JSON.stringify({ name: 'Rex', categoryId: 42 }),
});
console.log(status, body);
