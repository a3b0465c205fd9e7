import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { Agent, request as sendRequest } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { onFreePorts } from '@animal-store/test-kit/free-ports';
import { freshDatabaseFile, freshFile } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KEY, openSocket, request, serviceAt, startService } from './service.ts';
import { startProcess } from './service-process.ts';

const PORTS = new URL('../../../packages/domain/src/ports.ts', import.meta.url);

const PRODUCTION = { API_KEYS: KEY, NODE_ENV: 'production', STORAGE: 'memory' };

/** The module of an adapter whose storage has no pets and keys, and these members instead of its own. */
function adapterWith(members: string): string {
  const port = 'new Proxy({}, { get: () => async () => [] })';
  const storage = `{ location: 'here', pets: ${port}, keys: ${port}, async ready() {}, async close() {}, ${members} }`;
  const open = `description: 'shelves', variable: { name: 'SHELF' }, open: async () => (${storage})`;
  return freshFile('adapter.mjs', `export const adapter = { portsVersion: 1, ${open} };`);
}

/** An API key is looked for in vain for 0.3 seconds. */
const LATE_KEYS = 'keys: new Proxy({}, { get: () => () => new Promise((resolve) => setTimeout(resolve, 300, [])) })';

const ISSUE = 'set API_KEYS, or issue a key by animal-store keys issue --holder NAME';

describe('a start', () => {
  test('prints a key of its own once, where pets are stored, and a curl command that works', async () => {
    const STORAGE = adapterWith('');
    const [running, other] = [startProcess({}), startProcess({ STORAGE, SHELF: 'zoo' })];
    await other.says(/^ {2}Storage: +shelves$/m);
    const [line] = await running.says(/^ {2}curl [^\n]*\\\n[^\n]*\n/m);
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${line.trim().replace('curl', 'curl -s')}`]);
    expect(stdout).toBe('{"id":1,"name":"Rex","categoryId":1,"status":"available"}');
    expect(running.output.out).toMatch(/^\nAnimal Store .*gone when the service stops/s);
    expect(running.output.out.match(/made for this run/g)).toHaveLength(1);
    const key = (await running.says(/made for this run: +(\S+)/))[1] as string;
    expect((await other.says(/made for this run: +(\S+)/))[1]).not.toBe(key);
    expect((await (await running.listens()).call('GET', '/v1/pets', { key })).status).toBe(200);
  });

  test('shows a terminal what to call and to look at if keys are configured, too', async () => {
    const terminal = freshFile(
      'terminal.mjs',
      `import { syncBuiltinESMExports } from 'node:module';
       import tty from 'node:tty';
       tty.isatty = () => true;
       syncBuiltinESMExports();`,
    );
    const { says, listens, output } = startProcess({ API_KEYS: KEY, NODE_OPTIONS: `--import=${terminal}` });
    const { port } = await listens();
    const [, docs = ''] = await says(/in a browser: (\S+)/);
    expect((await fetch(docs)).status).toBe(200);
    expect(output.out).toMatch(
      new RegExp(`listening.*"Authorization: Bearer \\$API_KEY".*127\\.0\\.0\\.1:${port}/v1/pets`, 's'),
    );
    expect(output.out).not.toContain(KEY);
  });

  test('prints lines of JSON without a key if keys are configured', async () => {
    const { listens, logged, output } = startProcess({ ...PRODUCTION, REVISION: '0a1b2c3' });
    const { port } = await listens();
    expect(logged('listening')).toMatchObject([
      { url: `http://127.0.0.1:${port}/v1`, version: expect.stringMatching(/^\d+\.\d+\.\d+/), revision: '0a1b2c3' },
    ]);
    expect(logged(40)).toMatchObject([{ msg: expect.stringMatching(/^the animals are kept in memory/) }]);
    expect(output.out).not.toContain(KEY);
    expect(output.err).toBe('');
  });

  test.each<[string, (port: number) => Record<string, string>, string]>([
    ['a port is in use', (port) => ({ PORT: String(port) }), "can't listen at HOST, PORT \\d+: address already in use"],
    ['an address is missing', () => ({ HOST: '192.0.2.1' }), "can't listen at HOST, PORT 0: address not available"],
    ['a name is unknown', () => ({ HOST: 'later.invalid' }), "can't listen at HOST, PORT 0: "],
    [
      'a secret is missing',
      () => ({ API_KEYS_FILE: '/later/keys' }),
      "API_KEYS_FILE: the file can't be read: no such file",
    ],
    [
      'a disk is missing',
      () => ({ SQLITE_FILE: '/later/animals.db' }),
      'SQLITE_FILE: /later/animals.db cannot be used: ',
    ],
    [
      'a certificate is missing',
      () => ({ POSTGRES_URL: 'postgres://localhost/animals?sslrootcert=/later/ca.pem' }),
      'POSTGRES_URL: the file of sslrootcert in the PostgreSQL URL cannot be read: no such file',
    ],
    [
      'a certificate of MongoDB is missing',
      () => ({ MONGODB_URL: 'mongodb://localhost/animals?tls=true&tlsCAFile=/later/ca.pem' }),
      'MONGODB_URL: a file that the URL names cannot be read: ENOENT',
    ],
  ])('ends with code 2 and one line if %s', async (_, environment, line) => {
    const { port } = await startService();
    const running = startProcess(environment(port));
    expect(await running.exit).toBe(2);
    expect(running.output.err).toMatch(new RegExp(`^animal-store: ${line}.*\n$`));
  });

  test('with a key of its own creates no second animal when a creation is repeated after a restart', async () => {
    const environment = { SQLITE_FILE: freshDatabaseFile() };
    const creation = {
      headers: { 'content-type': 'application/json', 'idempotency-key': 'arrival-4711' },
      body: '{"name":"Rex","categoryId":1}',
    };
    const replayed: unknown[] = [];
    for (let run = 0; run < 2; run += 1) {
      const running = startProcess(environment);
      const { call } = await running.listens();
      const key = (await running.says(/made for this run: +(\S+)/))[1] as string;
      const { headers, json } = await call('POST', '/v1/pets', { key, ...creation });
      replayed.push([headers['idempotent-replayed'], json]);
      running.process.kill('SIGTERM');
      expect(await running.exit).toBe(0);
    }
    const rex = { id: 1, name: 'Rex', categoryId: 1 };
    expect(replayed).toEqual([
      [undefined, rex],
      ['true', rex],
    ]);
  });

  test.each([
    ['there is no key in production', '', `there is no API key: ${ISSUE}`],
    [
      'only an operator can fix the storage',
      `async ready() {
        const { StorageMisconfigured, unavailable } = await import('${PORTS}');
        throw unavailable(new StorageMisconfigured('the password is wrong'));
      }`,
      'SHELF: the password is wrong',
    ],
  ])('ends with code 2 and one line if %s', async (_, members, line) => {
    const running = startProcess({ NODE_ENV: 'production', STORAGE: adapterWith(members), SHELF: 'zoo' });
    expect(await running.exit).toBe(2);
    expect(running.output.err).toBe(`animal-store: ${line}\n`);
    expect(running.output.out).not.toMatch(/listening|stopp/);
  });

  test.each([
    ['there is no key, which shows late', () => ({ STORAGE: adapterWith(LATE_KEYS), SHELF: 'zoo' }), 2],
    ['there is no key', () => ({ SQLITE_FILE: freshDatabaseFile() }), 2],
    ['there is a key', () => ({ SQLITE_FILE: freshDatabaseFile(), API_KEYS: KEY }), null],
  ])('is not ready before it says "listening" if %s', (_, environment, code) =>
    onFreePorts(1, async (port) => {
      const running = startProcess({ NODE_ENV: 'production', PORT: String(port), ...environment() });
      let readyAt: number | undefined;
      async function probe(): Promise<void> {
        const { status } = await serviceAt(port).call('GET', '/readyz', { key: null });
        if (status === 200) readyAt ??= Date.now();
      }
      const probes = setInterval(() => void probe().catch(() => {}), 2);
      onTestFinished(() => clearInterval(probes));
      if (code !== null) {
        expect(await running.exit).toBe(code);
        expect(running.output.err).toMatch(/there is no API key/);
        expect(readyAt).toBeUndefined();
        return;
      }
      await running.listens();
      const [listening] = running.logged('listening');
      await expect.poll(() => readyAt).toBeGreaterThanOrEqual(listening?.['time'] as number);
    }),
  );

  test('ends with code 2 on a configuration error even if standard error cannot be written', async () => {
    const fd = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(fd));
    expect(await startProcess({ PORT: 'x' }, { stdio: ['ignore', 'ignore', fd] }).exit).toBe(2);
  });

  test('closes connections beyond MAX_CONNECTIONS', async () => {
    const { port } = await startProcess({ API_KEYS: KEY, MAX_CONNECTIONS: '1' }).listens();
    const first = openSocket(port);
    await once(first, 'connect');
    await once(openSocket(port), 'close');
    first.write(request('GET /livez'));
    await once(first, 'data');
  });

  test('accepts fewer connections than MAX_CONNECTIONS if ulimit -n is too low, and says so', async () => {
    const running = startProcess({ API_KEYS: KEY }, { openFiles: 600 });
    const { port } = await running.listens();
    const warning = 'ulimit -n is 600: only 100 connections, MAX_CONNECTIONS needs 10500';
    expect(running.logged(40).map(({ msg }) => msg)).toContain(warning);
    const [first] = Array.from({ length: 700 }, () => openSocket(port));
    first?.write(request('GET /livez'));
    await running.says(/there are as many as MAX_CONNECTIONS allows/);
    await expect.poll(() => first?.bytesRead).toBeGreaterThan(0);
  });
});

test('a start that fails writes its warnings', async () => {
  const { port } = await startService();
  const { exit, logged } = startProcess({ API_KEYS: KEY, PORT: String(port) }, { openFiles: 600 });
  expect(await exit).toBe(2);
  expect(logged(40)).toMatchObject([{ msg: expect.stringMatching(/^ulimit -n is 600/) }]);
});

/** Sends a request whose body is half sent: it is in flight. */
function beginCreation(port: number) {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const creation = sendRequest({ port, host: '127.0.0.1', method: 'POST', path: '/v1/pets', headers, agent });
  creation.on('error', () => {}).write('{"name":"Rex",');
  return {
    /** Sends the rest. */
    async finish() {
      creation.end('"categoryId":1}');
      const [response] = await once(creation, 'response');
      response.resume();
      return [response.statusCode, response.headers.connection];
    },
  };
}

describe('a stop', () => {
  /** Starts the service, begins creations, and waits until they are in flight. */
  async function startWithCreations(environment: Record<string, string> = {}, count = 1) {
    const running = startProcess({ API_KEYS: KEY, ...environment });
    const service = await running.listens();
    const creations = Array.from({ length: count }, () => beginCreation(service.port));
    // The connection of this request is accepted after those of the creations.
    expect((await service.call('GET', '/readyz', { key: null })).status).toBe(200);
    return { ...running, ...service, creations };
  }

  test('ends with 0 at its deadline although a request is not complete, and logs it as cut by the stop', async () => {
    const { process, exit, logged } = await startWithCreations({ STOP_DEADLINE_SECONDS: '1' });
    process.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(logged('stopped')).toMatchObject([{ connectionsClosed: 1 }]);
    const cut = { route: '/v1/pets', status: 503, error: 'service_unavailable', reason: 'the service is stopping' };
    expect(logged('request').filter(({ method }) => method === 'POST')).toMatchObject([cut]);
  });

  test('logs each request that has no response at its deadline', async () => {
    const file = freshDatabaseFile();
    const { process, exit, logged, listens } = startProcess({
      ...{ API_KEYS: KEY, SQLITE_FILE: file, STOP_DEADLINE_SECONDS: '1' },
    });
    const { port } = await listens();
    const other = new DatabaseSync(file, { timeout: 5_000 });
    onTestFinished(() => other.close());
    // Creations wait for the other program.
    other.exec('BEGIN IMMEDIATE');
    const service = serviceAt(port);
    for (const id of ['one', 'two', 'three']) {
      service.add({ name: 'Rex', categoryId: 1 }, { 'x-request-id': id }).catch(() => {});
    }
    // The connection of this request is accepted after those of the creations.
    await service.call('GET', '/livez');
    process.kill('SIGTERM');
    expect(await exit).toBe(0);
    const ids = logged('request')
      .filter(({ status }) => status === 503)
      .map(({ requestId }) => requestId);
    expect(ids.sort()).toEqual(['one', 'three', 'two']);
    expect(logged('stopped')).toMatchObject([{ connectionsClosed: 3 }]);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'finishes requests in flight on %s, and ends with 0',
    async (signal) => {
      const { process, creations, call, says, exit, output } = await startWithCreations();
      process.kill(signal);
      await says(/"stopping"/);
      // A terminal that goes does not end the stop.
      process.kill('SIGHUP');
      expect(await creations[0]?.finish()).toEqual([201, 'close']);
      expect(await exit).toBe(0);
      expect(output.out.match(/"stopping"/g)).toHaveLength(1);
      expect(output.err).toBe('');
      await expect(call('GET', '/livez', { key: null })).rejects.toThrow(/ECONNREFUSED/);
    },
  );

  test('loses no request that began before the signal or in the grace after it, and closes its connection', async () => {
    const { process, creations, port, call, says, exit, output } = await startWithCreations(PRODUCTION, 50);
    process.kill('SIGTERM');
    await says(/"stopping"/);
    expect((await call('GET', '/readyz', { key: null })).status).toBe(503);
    while (creations.length < 100) creations.push(beginCreation(port));
    expect((await call('GET', '/v1/pets')).status).toBe(200);
    const finished = await Promise.all(creations.map(({ finish }) => finish()));
    expect(finished).toEqual(Array(100).fill([201, 'close']));
    expect((await call('GET', '/v1/pets?limit=100')).json).toHaveLength(100);
    expect(await exit).toBe(0);
    expect(output.out).toMatch(/^(?=.*"msg":"stopped").*"connectionsClosed":0/m);
  });

  test('is an end with 0 if the signal comes while the service loads', async () => {
    // It listens for signals first.
    const send =
      "process.on('newListener', (name) => name === 'SIGTERM' && process.nextTick(process.kill, process.pid, name))";
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(send)}`;
    const running = startProcess({ API_KEYS: KEY, NODE_OPTIONS });
    expect(await running.exit).toBe(0);
    expect(running.output).toEqual({ out: '', err: '' });
  });

  // The package app-kit tests a second signal of the same kind, and the time between both.
  test('ends at once on a second signal', async () => {
    const running = startProcess(PRODUCTION);
    await running.listens();
    running.process.kill('SIGHUP');
    await running.says(/"stopping"/);
    running.process.kill('SIGINT');
    expect([await running.exit, running.process.signalCode]).toEqual([null, 'SIGINT']);
  });

  test('kills itself if the storage cannot be closed', async () => {
    const STORAGE = adapterWith('close: () => new Promise(() => setInterval(() => {}, 1_000))');
    const running = startProcess({ API_KEYS: KEY, STORAGE, SHELF: 'zoo', STOP_DEADLINE_SECONDS: '1' });
    await running.listens();
    running.process.kill('SIGTERM');
    expect([await running.exit, running.process.signalCode]).toEqual([null, 'SIGKILL']);
  });
});
