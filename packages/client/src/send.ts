import { AnimalStoreError, isServiceCode } from './error.ts';

/** The options of a call. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long the call may take with all its attempts, in milliseconds; 30,000 by default. */
  readonly timeout?: number | undefined;
}

/** The service responds within 5 seconds, even if its storage is unavailable. In milliseconds. */
const ATTEMPT_TIMEOUT = 10_000;

/** The longest pause after the first attempt, which doubles with each other one, and its limit; in milliseconds. */
const [FIRST_BACKOFF, MAX_BACKOFF] = [100, 5_000];

const RETRIED: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Sends a request until it succeeds, is rejected or times out.
 *
 * @param request Repeated as it is: a POST needs an idempotency key.
 * @returns A response of 2xx, and its body.
 * @throws AnimalStoreError; the signal's reason
 */
export async function send(url: string, request: RequestInit, options: CallOptions): Promise<[Response, string]> {
  const { signal, timeout = 30_000 } = options;
  const deadline = performance.now() + timeout;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    const attemptTimeout = AbortSignal.timeout(
      Math.max(0, Math.min(ATTEMPT_TIMEOUT, Math.ceil(deadline - performance.now()))),
    );
    const attemptSignal = signal === undefined ? attemptTimeout : AbortSignal.any([signal, attemptTimeout]);
    const { response, text, error } = await exchange(url, { ...request, signal: attemptSignal });
    if (response?.ok) return [response, text];
    signal?.throwIfAborted();
    // Clients whose attempts failed at once do not repeat them at once.
    const jitter = Math.random() * Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** attempt);
    const pause = jitter + retryAfter(response);
    const isFinal = response !== undefined && !RETRIED.has(response.status);
    if (isFinal || performance.now() + pause >= deadline) throw error;
    await sleep(pause, signal);
  }
}

/** A response that was read to its end, or none, and the error if it is not of 2xx. */
type Exchange = { readonly response?: Response; readonly text: string; readonly error?: AnimalStoreError };

async function exchange(url: string, request: RequestInit): Promise<Exchange> {
  try {
    // A redirected POST may become a GET.
    const response = await fetch(url, { ...request, redirect: 'manual' });
    const text = await response.text();
    return response.ok ? { response, text } : { response, text, error: errorIn(response, text) };
  } catch (cause) {
    // In Node.js the reason is in the cause.
    const { message } = ((cause as Error).cause ?? cause) as Error;
    const error = new AnimalStoreError('no_response', `no response from ${url}: ${message}`, { cause });
    return { text: '', error };
  }
}

/** The error that a response describes. */
function errorIn({ status, headers }: Response, text: string): AnimalStoreError {
  const details = { status, requestId: headers.get('x-request-id') ?? undefined };
  try {
    const { code, message } = JSON.parse(text) as { code: unknown; message: unknown };
    if (isServiceCode(code) && typeof message === 'string') return new AnimalStoreError(code, message, details);
  } catch {
    // The response is not of the service.
  }
  return new AnimalStoreError(
    'unexpected_response',
    `the response has the status ${status} and no error of the service`,
    details,
  );
}

/** The pause that a response asks for (RFC 9110, section 10.2.3), in milliseconds. */
function retryAfter(response: Response | undefined): number {
  const value = response?.headers.get('retry-after') ?? '';
  const pause = Number(value) * 1_000 || Date.parse(value) - Date.now();
  return Math.max(pause || 0, 0);
}

/** Ends early if the signal is aborted. */
function sleep(pause: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, pause);
    signal?.addEventListener('abort', end);
  });
}
