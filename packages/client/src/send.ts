import { parse } from '@animal-store/exact-json';
import { AnimalStoreError, isServiceCode } from './error.ts';

/** The options of a call. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the call may take with all its attempts, in milliseconds.
   *
   * @default that of the client
   */
  readonly timeout?: number | undefined;
}

/** How calls are repeated. */
export interface RetryOptions {
  /**
   * How often a call is repeated at most.
   *
   * @default Infinity, until its timeout
   */
  readonly maxRetries?: number | undefined;
  /** Called before each repetition with the error of the attempt before, and the number of the repetition, from 1. */
  readonly onRetry?: ((error: AnimalStoreError, retry: number) => void) | undefined;
}

/** The service responds within 5 seconds, even if its storage is unavailable. In milliseconds. */
const ATTEMPT_TIMEOUT = 10_000;

/** The longest pause after the first attempt, which doubles with each other one, and its limit; in milliseconds. */
const [FIRST_BACKOFF, MAX_BACKOFF] = [100, 5_000];

/** A longer timer of `setTimeout` ends at once; in milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

const RETRIED: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

interface SendOptions extends CallOptions, RetryOptions {
  readonly fetch?: typeof fetch | undefined;
  /** Called with the header fields of each response. */
  readonly onResponse: (headers: Headers) => void;
}

/** Reads a response of 2xx. A text completes "the response …" if its body is not that of the operation. */
export type Read<T extends object> = (body: unknown, headers: Headers) => T | string;

/**
 * Sends a request until it succeeds, is rejected or times out.
 *
 * @param init Repeated as it is: a POST needs an idempotency key.
 * @returns What was read from a response of 2xx.
 * @throws AnimalStoreError; TypeError if a number, the signal or `fetch` is not as described; the signal's reason
 */
export async function send<T extends object>(
  url: string,
  init: RequestInit,
  read: Read<T>,
  options: SendOptions,
): Promise<T> {
  const { signal, onRetry, timeout = 30_000, maxRetries = Number.POSITIVE_INFINITY } = options;
  for (const [name, value] of Object.entries({ timeout, maxRetries }))
    if (!(typeof value === 'number' && value >= 0)) throw new TypeError(`${name} must be a number, 0 or more`);
  const deadline = performance.now() + timeout;
  for (let retry = 1; ; retry += 1) {
    const remaining = Math.max(0, Math.ceil(deadline - performance.now()));
    const attemptSignal = signalOf(signal, Math.min(ATTEMPT_TIMEOUT, remaining));
    // Not every `fetch` of a caller looks at the signal before it sends.
    attemptSignal.throwIfAborted();
    try {
      return await attempt(url, init, read, { ...options, signal: attemptSignal });
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof AnimalStoreError)) throw error;
      const pause = pauseBefore(retry, error);
      if (retry > maxRetries || performance.now() + pause >= deadline) throw error;
      onRetry?.(error, retry);
      for (let rest = pause; rest > 0 && !signal?.aborted; rest -= MAX_TIMER)
        await sleep(Math.min(rest, MAX_TIMER), signal);
    }
  }
}

/**
 * The signal of an attempt.
 *
 * @param timeout In milliseconds.
 * @throws TypeError if the signal is no AbortSignal, of this realm or of another one.
 */
function signalOf(signal: AbortSignal | undefined, timeout: number): AbortSignal {
  try {
    return AbortSignal.any([...(signal === undefined ? [] : [signal]), AbortSignal.timeout(timeout)]);
  } catch (cause) {
    throw new TypeError('signal must be an AbortSignal', { cause });
  }
}

/** How long to wait before a retry, from 1, in milliseconds; Infinity if the error is final. */
function pauseBefore(retry: number, { code, status = 0, retryAfter = 0 }: AnimalStoreError): number {
  if (code !== 'no_response' && !RETRIED.has(status)) return Number.POSITIVE_INFINITY;
  // Clients whose attempts failed at once do not repeat them at once.
  const jitter = Math.random() * Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** (retry - 1));
  return retryAfter * 1_000 + jitter;
}

/** @throws AnimalStoreError; TypeError if `fetch` is no function */
async function attempt<T extends object>(
  url: string,
  init: RequestInit,
  read: Read<T>,
  options: SendOptions,
): Promise<T> {
  const { signal = null, fetch = globalThis.fetch, onResponse } = options;
  if (typeof fetch !== 'function') throw new TypeError('fetch must be a function');
  const [requestId, idempotencyKey] = ['x-request-id', 'idempotency-key'].map(
    (name) => new Headers(init.headers).get(name) ?? undefined,
  );
  let response: Response;
  let text: string;
  try {
    // A redirected POST may become a GET.
    response = await fetch(url, { ...init, signal, redirect: 'manual' });
    text = await response.text();
  } catch (cause) {
    const message = `no response from ${url}: ${reasonOf(cause)}`;
    throw new AnimalStoreError('no_response', message, { requestId, idempotencyKey, cause });
  }
  const { ok, headers } = response;
  onResponse(headers);
  let body: unknown;
  try {
    body = parse(text);
  } catch {
    // It is not of the service.
  }
  const value = ok ? read(body, headers) : unexpectedIn(response);
  if (typeof value === 'object') return value;

  const status = response.status || undefined;
  const details = {
    status,
    // A proxy may have replaced it.
    requestId: headers.get('x-request-id') ?? requestId,
    retryAfter: retryAfter(headers),
    idempotencyKey,
  };
  const { code, message } = Object(body) as Record<string, unknown>;
  if (!ok && isServiceCode(code) && typeof message === 'string') throw new AnimalStoreError(code, message, details);
  throw new AnimalStoreError('unexpected_response', `the response ${value}`, details);
}

/**
 * Why `fetch` failed: in Node.js its cause says so, or the errors of all addresses of a host. A caller's `fetch` may reject
 * with any value.
 */
function reasonOf(failure: unknown): string {
  const { cause = failure } = Object(failure) as Partial<Error>;
  const { errors, message = cause } = Object(cause) as Partial<AggregateError>;
  // That of OpenSSL ends with a line end.
  return errors === undefined ? String(message).trim() : errors.map(reasonOf).join(', ');
}

function unexpectedIn({ status }: Response): string {
  // A browser hides the status of a redirection behind 0.
  const isRedirection = status === 0 || (status >= 300 && status < 400);
  if (isRedirection) return 'is a redirection: url must be that of the service';
  return `has the status ${status} and no error of the service`;
}

/**
 * The pause that a response asks for (RFC 9110, section 10.2.3), in seconds; undefined for none. A date is compared with the
 * clock of the service, if the response has its `Date`: the other clock may be ahead.
 */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  // Date.parse finds a date in most texts.
  const date = / GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(Math.ceil((date - now) / 1_000), 0);
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
