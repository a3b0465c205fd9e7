import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { credentials, loadPackageDefinition, Metadata, type ServiceClientConstructor, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(import.meta.dirname, '../generated');
const KEY = 'the-key-of-the-tests';

/** Writes the files that the guide shows. The first line of each names it. */
function writeFiles(): void {
  const guide = readFileSync(join(ROOT, 'docs/writing-a-transport.md'), 'utf8');
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(join(FOLDER, 'src'), { recursive: true });
  for (const [, text = '', file = ''] of guide.matchAll(/^```\w+\n(\/\/ (src\/[\w.]+).*?)^```$/gms)) {
    writeFileSync(join(FOLDER, file), text);
  }
}

beforeAll(writeFiles);

test('the transport of the guide compiles', () => {
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify({ extends: '../../../tsconfig.base.json' }));
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', FOLDER], { encoding: 'utf8' });
});

describe('the transport of the guide', () => {
  type Call = (method: string, request: object, key?: string) => Promise<Record<string, unknown>>;

  function run(environment: NodeJS.ProcessEnv) {
    const child = spawn(process.execPath, ['--conditions=@animal-store/source', join(FOLDER, 'src/main.ts')], {
      env: { API_KEYS: KEY, ...environment },
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, exit: once(child, 'exit').then(([code]) => code) };
  }

  async function start(environment: NodeJS.ProcessEnv = {}) {
    const { child, exit } = run({ PORT: '0', ...environment });
    const address = await new Promise<string>((resolve) => {
      createInterface(child.stderr).on('line', (line) => resolve(/listening at (\S+)/.exec(line)?.[1] ?? ''));
    });
    const definition = loadSync(join(FOLDER, 'src/animals.proto'), { longs: String });
    const { Animals } = loadPackageDefinition(definition) as unknown as { Animals: ServiceClientConstructor };
    const client = new Animals(address, credentials.createInsecure());
    onTestFinished(() => client.close());
    const call: Call = (method, request, key = KEY) =>
      new Promise((resolve, reject) => {
        const metadata = new Metadata();
        metadata.set('authorization', `Bearer ${key}`);
        client[method]?.(request, metadata, (error: Error | null, response: Record<string, unknown>) =>
          error ? reject(error) : resolve(response),
        );
      });
    return { address, call, exit, stop: () => void child.kill('SIGTERM') };
  }

  test('creates, reads and lists pets, and ends at a signal with code 0', async () => {
    const { call, exit, stop } = await start();
    const rex = { name: 'Rex', categoryId: '9223372036854775807', status: 'sold' };
    const max = { name: 'Max', categoryId: '0', idempotencyKey: 'order-17' };
    expect(await call('CreatePet', rex)).toEqual({ id: '1', ...rex });
    const created = { id: '2', name: 'Max', categoryId: '0' };
    expect([await call('CreatePet', max), await call('CreatePet', max)]).toEqual([created, created]);
    expect(await call('GetPet', { id: '2' })).toEqual(created);
    expect(await call('ListPets', { limit: 1 })).toEqual({ pets: [{ id: '1', ...rex }], next: '1' });
    expect(await call('ListPets', { after: '1' })).toEqual({ pets: [created] });
    stop();
    expect(await exit).toBe(0);
  });

  test('responds to errors with their status', async () => {
    const { call } = await start();
    const errors = [
      call('ListPets', { limit: 0, status: 'lost' }),
      call('GetPet', { id: '7' }),
      call('CreatePet', { name: ' ', status: 'sold' }),
      call('CreatePet', { name: 'Rex', categoryId: '7' }, 'another-key-of-16'),
    ].map((each) => each.catch(({ code, details }) => [code, details]));
    expect(await Promise.all(errors)).toEqual([
      [status.INVALID_ARGUMENT, expect.stringMatching(/^limit must be .*, was 0; status must be /)],
      [status.NOT_FOUND, expect.stringContaining('7')],
      [status.INVALID_ARGUMENT, 'name must have a character that is not white space; categoryId is required'],
      [status.UNAUTHENTICATED, 'send authorization: Bearer and an API key'],
    ]);
    expect(await call('ListPets', {})).toEqual({});
  });

  test('listens at an IPv6 address', async () => {
    const { address, call } = await start({ HOST: '::ffff:127.0.0.1' });
    expect(address).toMatch(/^\[::ffff:127\.0\.0\.1\]:\d+$/);
    expect(await call('ListPets', {})).toEqual({});
  });

  test('ends at a signal although a client does not end its call', async () => {
    const { address, exit, stop } = await start();
    const session = connect(`http://${address}`).on('error', () => {});
    const stream = session.request({
      ':method': 'POST',
      ':path': '/Animals/GetPet',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => {});
    // The server has read the frames of the call when it has responded to a later ping.
    await once(session, 'connect');
    await new Promise((resolve) => session.ping(resolve));
    stop();
    expect(await exit).toBe(0);
  });

  test('explains a port in use in one line, and ends with code 2', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { child, exit } = run({ PORT: String(port) });
    const [output, code] = await Promise.all([text(child.stderr), exit]);
    // gRPC writes the first line.
    expect([code, ...output.trimEnd().split('\n')]).toEqual([
      2,
      'E No address added out of total 1 resolved',
      `animal-store-grpc: can't listen at 127.0.0.1, port ${port}: it is in use; choose another PORT`,
    ]);
  });
});
