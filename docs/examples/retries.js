import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const { BASE_URL, API_KEY } = process.env;
const REPEATED = new Set([408, 429, 500, 502, 503, 504]);

async function send(url, options, seconds = 30) {
  const deadline = Date.now() + seconds * 1_000;
  for (let attempt = 1; ; attempt += 1) {
    const [response, error] = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) }).then(
      (response) => [response],
      (error) => [null, error],
    );
    if (response !== null && !REPEATED.has(response.status)) return response;
    const least = Number(response?.headers.get('retry-after') ?? 0) * 1_000;
    const pause = least + Math.random() * Math.min(5_000, 100 * 2 ** attempt);
    if (Date.now() + pause > deadline) throw error ?? new Error(await response.text());
    await sleep(pause);
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
const { code } = await response.json();
console.log(response.status, ...(response.ok ? [] : [code]));
