import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');

/**
 * Modules, and below each the documents and sentences that have numbers of it. A name in braces stands for the number, in
 * the unit that follows it.
 */
const TABLE = `
apps/cli/src/pet-files/pet-format.ts
  docs/command-line.md: A record of more than {MAX_RECORD_BYTES} KiB
apps/cli/src/transfer/import-pets.ts
  docs/command-line.md: the check ends after {MAX_ERRORS} errors
apps/cli/src/transfer/transfer-pets.ts
  docs/command-line.md: A creation is retried for {RETRY_FOR} s.
apps/http/src/access/rate-limit.ts
  docs/http-interface.md: The window of a {WINDOW} minute begins
apps/http/src/http/request-body.ts
  docs/operations.md: which can send a body of {BODY_MAX_BYTES} KiB
apps/http/src/observability/anonymous-requests.ts
  docs/observability.md: further ones a {INTERVAL} minute later
apps/http/src/open-files.ts
  docs/settings.md: Fewer if \`ulimit -n\` is not {RESERVED} higher.
apps/http/src/stop.ts
  docs/operations.md: The storage has {STORAGE_TIMEOUT} s to close
  docs/operations.md: A process that has not ended {END_TIMEOUT} s later
  docs/operations.md: one that supervises workers {SUPERVISOR_TIMEOUT} s after that
packages/adapter-contract/src/calls.ts
  docs/clients.md: responds within {CALL_LIMIT} s while its storage is unavailable
  docs/writing-a-transport.md: A call of the storage ends within {CALL_LIMIT} seconds
  docs/writing-an-adapter.md: An outage is \`unavailable(cause)\` within {CALL_LIMIT} seconds
  packages/adapter-contract/README.md: calls fail within {CALL_LIMIT} seconds
  packages/adapter-mongodb/README.md: each call fails within {CALL_LIMIT} seconds
  packages/adapter-postgres/README.md: each call fails within {CALL_LIMIT} seconds
packages/adapter-contract/src/place-contract.ts
  SECURITY.md: rejected by every process within {KEY_MAX_AGE} seconds
  docs/clients.md: an operator revokes them, at most {KEY_MAX_AGE} s longer
  docs/operations.md: A revoked key is rejected everywhere after {KEY_MAX_AGE} seconds at most.
packages/adapter-kit/src/batches.ts
  docs/storage-mongodb.md: At most {MAX_WAITING} calls of a kind wait
  docs/storage-postgres.md: At most {MAX_WAITING} calls of a kind wait
packages/adapter-kit/src/cached-key-store.ts
  docs/storage-mongodb.md: caches a key for {HIT_TTL} s, a missing key for {MISS_TTL} s: it accepts a key
  docs/storage-mongodb.md: another process has revoked for at most {HIT_TTL} s
  docs/storage-postgres.md: caches a key for {HIT_TTL} s, a missing key for {MISS_TTL} s: it accepts a key
  docs/storage-postgres.md: another process has revoked for at most {HIT_TTL} s
  packages/adapter-kit/README.md: \`createCachedKeyStore\` caches API keys for {HIT_TTL} seconds
  tools/explorer/README.md: at once in its process, after {HIT_TTL} s in every other
packages/adapter-kit/src/id-blocks.ts
  docs/storage-mongodb.md: blocks of up to {BLOCK_MAX_SIZE} ids, and discards what is left after {BLOCK_TTL} s.
  docs/storage-postgres.md: blocks of up to {BLOCK_MAX_SIZE} ids, and discards what is left after {BLOCK_TTL} s.
packages/adapter-mongodb/src/keys/mongo-key-store.ts
  docs/storage-mongodb.md: {MAX_KEYS} pets or keys are looked up
packages/adapter-mongodb/src/pets/pet-insertions.ts
  docs/storage-mongodb.md: up to {maxItems} pets are inserted
packages/adapter-mongodb/src/pets/pet-reads.ts
  docs/storage-mongodb.md: {MAX_IDS} pets or keys are looked up, {MAX_PAGES} pages are read
  docs/storage-mongodb.md: up to {MAX_CACHE_BYTES} MiB of pets
packages/adapter-mongodb/src/time-limits.ts
  docs/storage-mongodb.md: A call fails with 503 after {call} s
  docs/storage-mongodb.md: finding the primary {serverSelection} s
  docs/storage-mongodb.md: connecting {connect} s
  docs/storage-mongodb.md: a connection of the pool (\`maxPoolSize\` in the URL) {queue} s
  docs/storage-mongodb.md: silence on a socket {socket} s, work on the server {operation} s
packages/adapter-postgres/src/connection/connection.ts
  docs/storage-postgres.md: one of the pool's {MAX_CONNECTIONS} connections
  docs/storage-postgres.md: Each process opens up to {MAX_CONNECTIONS} connections
packages/adapter-postgres/src/keys/postgres-key-store.ts
  docs/storage-postgres.md: pets or {MAX_KEYS} keys are looked up
packages/adapter-postgres/src/pets/pet-creation.ts
  docs/storage-postgres.md: up to {MAX_PETS} pets are inserted
packages/adapter-postgres/src/pets/pet-reads.ts
  docs/storage-postgres.md: {MAX_PETS} pets or 1,000 keys are looked up, pages of up to {MAX_PETS} pets are read
  docs/storage-postgres.md: up to {MAX_CACHE_BYTES} MiB of pets
packages/adapter-postgres/src/time-limits.ts
  docs/storage-postgres.md: A call fails with 503 after {call} s
  docs/storage-postgres.md: connections, {connect} s
  docs/storage-postgres.md: {statement} s (\`statement_timeout\`)
  docs/storage-postgres.md: to its result {response} s.
  docs/storage-postgres.md: closes one that was not used for a {idle} minute
packages/adapter-sqlite/src/time-limits.ts
  docs/storage-sqlite.md: if it waits {wait} seconds for another process's lock, or {write} seconds for the disk
  docs/storage-sqlite.md: Another process holds the lock: calls wait {read} seconds
  docs/decisions/0024-group-commit-in-a-thread.md: pauses that grow from {lockRetryMin} to {lockRetryMax} ms
packages/app-kit/src/rate-limiter.ts
  docs/storage-mongodb.md: the process counts alone for {FALLBACK_DURATION} s
  docs/storage-postgres.md: the process counts alone for {FALLBACK_DURATION} s
  docs/decisions/README.md: the process counts alone for {FALLBACK_DURATION} s
  tools/explorer/README.md: no request waits for {SHARED_TIMEOUT} ms
packages/async/src/throttle.ts
  docs/observability.md: logged at once and then once a {INTERVAL} minute
  docs/operations.md: it is logged every {INTERVAL} minute at level error
packages/client/src/send.ts
  packages/client/README.md: until its \`timeout\` is over ({timeout} milliseconds by default)
packages/domain/src/api-keys/authentication.ts
  docs/storage-mongodb.md: The last use of a key is written once a {LAST_USE_RESOLUTION} minute
  docs/storage-postgres.md: The last use of a key is written once a {LAST_USE_RESOLUTION} minute
packages/http-server/src/size-limits.ts
  docs/http-interface.md: have {MAX_HEADER_SIZE} KiB or more in total
  docs/http-interface.md: if the body has more than {MAX_AWAITED_BODY} MiB
  docs/settings.md: all connections together: {MAX_QUEUED_REQUESTS} waiting
  docs/decisions/0020-lingering-close.md: if more than {MAX_AWAITED_BODY} MiB of the request is missing
  packages/http-server/README.md: rejects it from {MAX_HEADER_SIZE} KiB on
  packages/http-server/README.md: reads {CHUNKS_BEFORE_YIELD} chunks at a time
packages/http-server/src/stop.ts
  docs/operations.md: ends early after {QUIET} s
  docs/operations.md: nothing came in the last {QUIET} s
  docs/decisions/0021-grace-of-a-stop.md: The grace ends after {QUIET} s of silence
packages/http-server/src/time-limits.ts
  docs/deployment.md: before the service does so, after {keepAliveTimeout} s
  docs/decisions/0020-lingering-close.md: {lingerTimeout} s after the last byte, {requestTimeout} s at most
  packages/http-server/README.md: closes the connection after {inactivityTimeout} s
  packages/http-server/README.md: rejects it after {headersTimeout} s or {requestTimeout} s
  packages/http-server/README.md: in turn with other connections, for {requestTimeout} s
packages/observability/src/event-format.ts
  docs/observability.md: {info} for info, {warn} for problems that may pass, {error} for problems
packages/observability/src/line-writer.ts
  docs/observability.md: the requests of the last {delay} ms. Up to {waiting} MiB wait for a slow reader
packages/observability/src/load-shedding.ts
  docs/decisions/0012-load-shedding-by-event-loop-delay.md: ends after {PERIOD} s with a shorter delay
packages/observability/src/storage-monitor.ts
  docs/operations.md: checks the storage every {available} seconds, during an outage every {unavailable} seconds
  docs/storage-mongodb.md: at its next check, up to {available} s later
tools/bootstrap/programs.mjs
  docs/operations.md: with \`npm start\` after {SAME_SIGNAL} s
tools/deploy/test/environment.ts
  docs/operations.md: Give it {process} MB of memory, and {connection} kB for each connection
`;

/** Times are milliseconds, and sizes bytes in the code. */
const UNITS: Readonly<Record<string, number>> = { s: 1e3, seconds: 1e3, kB: 1e3, MB: 1e6, KiB: 1_024, MiB: 1_024 ** 2 };

/** The number that a module gives a constant or a member, as a product of literals: `MAX_SIZE = 64 * 1024`. */
function numberOf(source: string, name: string): number {
  const [, product] = new RegExp(`\\b${name} ?[=:] ([\\d._ *]+)`).exec(source) ?? [];
  if (product === undefined) throw new Error(`there is no number ${name}`);
  return product
    .replaceAll('_', '')
    .split('*')
    .map(Number)
    .reduce((a, b) => a * b);
}

function withNumbers(sentence: string, source: string): string {
  return sentence.replaceAll(/\{(\w+)\} (\w+)/g, (_, name: string, unit: string) => {
    const number = numberOf(source, name);
    if (unit === 'minute' && number === 60_000) return unit;
    return `${(number / (UNITS[unit] ?? 1)).toLocaleString('en')} ${unit}`;
  });
}

const MODULES = TABLE.trim()
  .split(/\n(?! )/)
  .map((part) => part.split('\n  ') as [string, ...string[]]);

test.each(MODULES)('the documents have the numbers of %s', (module, ...lines) => {
  const source = read(module);
  for (const line of lines) {
    const [document = ''] = line.split(': ', 1);
    const text = read(document).replaceAll(/\s+/g, ' ');
    expect(text, document).toContain(withNumbers(line.slice(document.length + 2), source));
  }
});
