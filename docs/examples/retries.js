import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { BASE_URL, API_KEY } = process.env;
const RETRIED = new Set([408, 429, 500, 503]);

async function send(url, options, attempts = 6) {
  for (let attempt = 1; ; attempt += 1) {
    const [response, error] = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) }).then(
      (response) => [response],
      (error) => [null, error],
    );
    if (response !== null && !RETRIED.has(response.status)) return response;
    if (attempt === attempts) throw error ?? new Error(await response.text());
    const least = Number(response?.headers.get('retry-after') ?? 0) * 1_000;
    await sleep(least + Math.random() * 100 * 2 ** attempt);
  }
}

const response = await send(`${BASE_URL}/pets`, {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${API_KEY}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  },
  body: JSON.stringify({ name: 'Rex', categoryId: 42 }),
});
console.log(response.status);
