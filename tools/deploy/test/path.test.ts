import { globSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { freePorts } from '@animal-store/test-kit/free-ports';
import { freshFile, freshFolder } from '@animal-store/test-kit/fresh-folder';
import { ROOT, run as runProgram } from '@animal-store/test-kit/programs';
import { callsTo, KEY } from '@animal-store/test-kit/service';
import { IMAGE as POSTGRES_IMAGE } from '@animal-store/test-servers/postgres/server';
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { buildImage, docker, documented } from './programs.ts';

const RUN = 'tools/deploy/docker/run.sh "$IMAGE" 1 2';

/** The blocks of commands in a section of a page, whose heading begins like this. */
function blocksOf(page: string, heading: string): string[] {
  const text = documented(page, new RegExp(`^##+ ${heading}.*?(?=^## |(?![^]))`, 'ms'));
  return Array.from(text.matchAll(/^```sh\n(.*?)^```$/gms), ([, commands]) => commands as string);
}

const blocks = (step: number) => blocksOf('from-clone-to-production.md', `${step}\\. `);

let image: string;

/** What the page installs, with names, ports and files of the running test. */
async function installation() {
  const folder = freshFolder();
  const settings = `${folder}/settings`;
  const name = `path-test-${process.pid}`;
  // Not those of other tests, which could take one while no instance listens at it.
  const [base = 0] = await freePorts(3, { first: 10_000, end: 20_000 });
  const port = base + 1;
  const adapt = (text: string) =>
    text
      // First, because the name of the folder may look like that of an instance.
      .replaceAll(/animal-store(?=-[\d$])|(?<=network (?:create )?)animal-store/g, name)
      .replaceAll(/(?<=--name |exec |stop -t 25 |--volumes-from |--volume )animal-store(?=[ :])/g, `${name}-0`)
      .replace('127.0.0.1:3000:3000', `127.0.0.1:${base}:3000`)
      .replaceAll(':3000/v1', `:${base}/v1`)
      .replaceAll(/ animal-store(?=\n| node)/g, ' "$IMAGE"')
      .replaceAll('animals-db', `${name}-db`)
      .replaceAll('/etc/animal-store', settings)
      .replaceAll('/var/backups', folder)
      .replaceAll('tools/deploy/docker', folder)
      // A commit waits for no disk: a busy one takes longer for it than a call may take.
      .replace(/ postgres:\d+(?= )/, ` ${POSTGRES_IMAGE} postgres -c fsync=off`)
      .replaceAll(/--cacert \S+ /g, '')
      .replaceAll(/https:\/\/localhost|http:\/\/127\.0\.0\.1:3001/g, `http://127.0.0.1:${port}`)
      .replace('((3000 +', `((${base} +`);
  for (const script of ['run.sh', 'backup.sh', 'restore.sh']) {
    const text = readFileSync(`${ROOT}/tools/deploy/docker/${script}`, 'utf8');
    writeFileSync(`${folder}/${script}`, adapt(text), { mode: 0o755 });
  }
  onTestFinished(async () => {
    const own = ['0', '1', '2', '1-before', '2-before', '1-replaced', '2-replaced', 'db'].map(
      (suffix) => `${name}-${suffix}`,
    );
    await docker('rm', '--force', '--volumes', ...own).catch(() => {});
    await docker('volume', 'rm', '--force', `${name}-db`, `${name}-0`);
    await docker('network', 'rm', name).catch(() => {});
  });
  /** One line for each container: its id, when it was started, and whether it runs. */
  const containers = async (...suffixes: readonly string[]) => {
    const names = suffixes.map((suffix) => `${name}-${suffix}`);
    const format = '{{.Id}} {{.State.StartedAt}} {{.State.Running}}';
    return (await docker('inspect', '--format', format, ...names)).split('\n');
  };
  return {
    folder,
    settings,
    /**
     * Runs commands as the shell of an operator who pastes them: it goes on after one that fails, and a command that reads its
     * standard input swallows those that follow.
     */
    paste(...commands: readonly string[]) {
      // The proxy is not installed.
      const file = freshFile('commands', `service() { echo "service $*"; }\n${adapt(commands.join('\n'))}`);
      const options = { cwd: ROOT, env: { ...process.env, IMAGE: image } };
      return runProgram('bash', ['-c', 'exec bash <"$0"', file], options);
    },
    createNetwork: () => docker('network', 'create', name),
    configure: (...lines: readonly string[]) => {
      mkdirSync(settings, { recursive: true });
      writeFileSync(`${settings}/service.env`, ['STORAGE=memory', `API_KEYS=${KEY}`, ...lines].join('\n'));
    },
    instances: () => containers('1', '2'),
    former: () => containers('1-before', '2-before'),
    calls: callsTo(`http://127.0.0.1:${port}`),
  };
}

/** Builds an image whose process is ready at once, and ends after 1.5 s. */
const buildShortLived = () => {
  const program = `
    setTimeout(() => { console.error('ends now'); process.exit(2); }, 1_500);
    http.createServer((_, response) => response.end()).listen(3_000)`;
  const dockerfile = `FROM ${image}\nCMD ${JSON.stringify(['node', '--eval', program])}\n`;
  return docker('build', '--quiet', '--file', freshFile('Dockerfile', dockerfile), freshFolder());
};

const idsOf = (containers: readonly string[]) => containers.map((line) => line.split(' ')[0]);
const running = (containers: readonly string[]) => containers.map((line) => line.endsWith(' true'));

describe.skipIf(inject('missing').includes('image'))('from a clone to production', () => {
  beforeAll(async () => {
    image = await buildImage({});
  });

  /** Two instances in memory. */
  async function twoInstances() {
    const installed = await installation();
    await installed.createNetwork();
    installed.configure();
    await installed.paste(RUN);
    return { ...installed, first: await installed.instances() };
  }

  test('run.sh replaces instances, and keeps those before', async () => {
    const { paste, instances, former, first } = await twoInstances();
    const [upgrade = '', back = '', change = ''] = blocks(8);
    expect(await paste(upgrade)).toMatch(/1 is ready.*2 is ready.*"listening"/s);
    expect(idsOf(await former())).toEqual(idsOf(first));
    expect(running(await former())).toEqual([false, false]);
    expect(running(await instances())).toEqual([true, true]);
    expect(await paste(back)).toMatch(/1 is ready.*2 is ready/s);
    // What a run leaves that was killed before its instance was ready.
    await paste('docker rename animal-store-1-before animal-store-1-replaced');
    expect(await paste(change)).toMatch(/1 is ready.*2 is ready/s);
    expect(await paste(`ADDRESS=127.0.0.2 ${RUN}`)).toMatch(
      /1 is ready at 127\.0\.0\.2:.*2 is ready at 127\.0\.0\.2:/s,
    );
  });

  test('run.sh changes nothing if the image does not exist or has no name', async () => {
    const { paste, instances, first } = await twoInstances();
    await expect(paste(RUN.replace('$IMAGE', 'animal-store:missing'))).rejects.toThrow('No such image');
    await expect(paste(RUN.replace('$IMAGE', '$UNSET'))).rejects.toThrow('IMAGE is empty');
    expect(await instances()).toEqual(first);
  });

  test.each([
    ['has a wrong setting', ['PORT=none'], 'PORT must be'],
    [
      'does not reach its storage',
      ['STORAGE=postgres', 'POSTGRES_URL=postgres://nowhere/animals'],
      'ENOTFOUND nowhere',
    ],
    ['is ready for a second only', [], 'ends now'],
  ])(
    'run.sh starts an instance again whose successor %s, and leaves the next one alone',
    async (_, settings, reason) => {
      const { paste, instances, first, configure } = await twoInstances();
      configure(...settings);
      const run = settings.length > 0 ? RUN : RUN.replace('$IMAGE', await buildShortLived());
      await expect(paste(run)).rejects.toThrow(reason);
      expect(idsOf(await instances())).toEqual(idsOf(first));
      expect(running(await instances())).toEqual([true, true]);
      expect((await instances())[1]).toBe(first[1]);
    },
  );

  test('run.sh keeps the way back after an upgrade that fails', async () => {
    const { paste, former, configure } = await twoInstances();
    await paste(RUN);
    const before = await former();
    configure('PORT=none');
    await expect(paste(RUN)).rejects.toThrow('PORT must be');
    expect(await former()).toEqual(before);
    configure();
    const [, back = ''] = blocks(8);
    expect(await paste(back)).toMatch(/1 is ready.*2 is ready/s);
  });

  test('the commands dump and restore a database and change its password, and change nothing after a step that fails', async () => {
    const { paste, folder, settings, calls, instances } = await installation();
    const issued = await paste(...blocks(2), ...blocks(3));
    const [key = ''] = /anst_\w{36}/.exec(issued) ?? [];
    expect(await paste(`export API_KEY=${key}`, ...blocks(4))).toMatch(/1 is ready.*2 is ready.*\[\].*listening/s);
    const list = () => calls.call('/v1/pets', key).then((response) => response.text(), String);
    const [, rehearse = ''] = blocks(7);
    const symptoms = ['It does not start', 'Every request', 'An API key'].flatMap((title) =>
      blocksOf('runbook.md', title),
    );
    expect(await paste(...symptoms)).toMatch(
      /"listening".*0 false.*accepting connections.*"key":"anst_.*"lastUsedAt"/s,
    );
    const [restore = ''] = blocksOf('runbook.md', 'PostgreSQL');

    await calls.add('Rex', key);
    await paste('tools/deploy/docker/backup.sh');
    const [dump = ''] = globSync(`${folder}/animals-*`);
    expect(statSync(dump).mode & 0o777).toBe(0o600);
    await calls.add('Max', key);
    const whole = readFileSync(dump);
    writeFileSync(dump, whole.subarray(0, 6_000));
    const before = await instances();
    expect(await paste(rehearse)).not.toContain('count');
    expect(await instances()).toEqual(before);
    expect(await paste(restore)).not.toContain('ALTER DATABASE');
    expect(await instances()).toEqual(before);

    writeFileSync(dump, whole);
    expect(await paste(rehearse)).toMatch(/10000\d\d.*count.*\n +1 \| 20/s);
    expect(await paste('docker exec animals-db psql --list')).not.toContain('animals_restored');
    expect(await list()).toMatch(/Rex.*Max/);
    // The night before cron's hour: the dump of this weekday is a week old.
    const older = `${folder}/animals-0.dump`;
    writeFileSync(older, 'of last week');
    utimesSync(older, 0, 0);
    // Keys that were revoked after the dump are valid again: no client reaches an instance.
    expect(await paste(restore)).toMatch(/^service haproxy stop$.*(ALTER DATABASE\s+){2}/ms);
    await expect.poll(list).toMatch(/^\[\{"id":1,"name":"Rex",[^{]*\}\]$/);
    expect(await (await calls.add('Tim', key)).text()).toMatch(/^\{"id":10000\d\d,/);
    // Clients know the id of Tim.
    await paste(restore);
    await expect.poll(list).toMatch(/^\[\{"id":1,"name":"Rex",[^{]*\}\]$/);
    expect(await (await calls.add('Tom', key)).text()).toMatch(/^\{"id":2000\d{3},/);

    const [changePassword = ''] = blocksOf('runbook.md', "The database's password");
    // Everybody on the machine can list the arguments of processes.
    expect(changePassword.replaceAll(/<<<"[^"]*"/g, '')).not.toContain('$new');
    const password = () => readFileSync(`${settings}/service.env`, 'utf8');
    const first = password();
    expect(await paste(changePassword)).toMatch(/1 is ready.*2 is ready/s);
    const second = password();
    expect(second).not.toBe(first);
    expect(await list()).toContain('Rex');
    await paste('tools/deploy/docker/backup.sh');
    expect(await paste(rehearse)).toMatch(/\n +2 \| 20/);
    await paste(restore);
    await expect.poll(list).toMatch(/Rex.*Tom/);
    const last = readFileSync(dump);
    rmSync(older);

    await paste('docker stop animals-db');
    await expect(paste('tools/deploy/docker/backup.sh')).rejects.toThrow('is not running');
    expect(readFileSync(dump)).toEqual(last);
    expect(globSync(`${folder}/animals-*`)).toEqual([dump]);
    await expect(paste(changePassword)).rejects.toThrow('is not running');
    expect(password()).toBe(second);

    expect(image).toContain(readFileSync(`${folder}/animals.image`, 'utf8').trim().slice(0, 12));
    await paste('docker rm --force animal-store-1 animal-store-2 animals-db', 'docker volume rm animals-db');
    const database = (blocks(2)[0] as string).replace(/.*(?=^docker run )/ms, '');
    const [replace = ''] = blocksOf('runbook.md', 'A lost machine');
    expect(await paste(database, replace)).toMatch(/1 is ready.*2 is ready/s);
    await expect.poll(list).toMatch(/Rex.*Tom/);
  });

  test('the commands start one container on a SQLite file, and move its animals to the path, whose database was used', async () => {
    const { paste, calls } = await installation();
    const [start = '', move = '', makeRoom = ''] = blocksOf('deployment.md', 'The image');
    expect(start).toMatch(/^docker tag "\$IMAGE" animal-store\n/);
    const [issue = ''] = /^docker exec .+/m.exec(start) ?? [];
    expect(await paste(start.replace(/.*\n/, '').replace(issue, ''))).toMatch(/^\[\]/m);
    // The volume is on a disk. A busy one takes longer for a commit than a call may take.
    const patiently = (command: string) => vi.waitFor(() => paste(command), { timeout: 60_000 });
    const [key = ''] = /anst_\w{36}/.exec(await patiently(issue)) ?? [];
    const create = 'pets create --name Rex --category-id 1 --idempotency-key k1';
    const cli = 'docker exec animal-store node apps/cli/dist/main.js';
    await patiently(`${cli} ${create}`);
    // One that took too long to issue is stored, too.
    const keys = (await paste(`${cli} keys list`)).trim().split('\n');
    expect(keys.join()).toContain('the zoo');

    // With an API key of its own.
    await paste(...blocks(2), ...blocks(3), ...blocks(4));
    await expect(paste(move)).rejects.toThrow('name an empty storage');
    await paste(makeRoom);
    expect(await paste(move)).toContain(`"copied":1,"alreadyCopied":0,"apiKeys":${keys.length}}`);
    await paste(...blocks(4));
    const list = () => calls.call('/v1/pets', key).then((response) => response.text(), String);
    await expect.poll(list).toContain('"name":"Rex"');
  });
});

test.skipIf(['promtool', 'haproxy'].some((name) => inject('missing').includes(name)))(
  'the commands of the proxy and of the alert write configurations that HAProxy and Prometheus accept',
  async () => {
    const folder = freshFolder();
    for (const name of ['animal-store', 'ssl', 'haproxy', 'prometheus', 'default', 'bin', 'proxies'])
      mkdirSync(`${folder}/${name}`);
    writeFileSync(`${folder}/haproxy/haproxy.cfg`, 'global\n  maxconn 100\ndefaults\n  mode tcp\n');
    const proxy = readFileSync(`${ROOT}/tools/deploy/proxies/haproxy.cfg`, 'utf8');
    writeFileSync(`${folder}/proxies/haproxy.cfg`, proxy.replaceAll('/etc/ssl', `${folder}/ssl`));
    // Whatever would change this machine, or wait for a service on it.
    for (const name of ['apt-get', 'service', 'sleep', 'docker', 'curl']) {
      writeFileSync(`${folder}/bin/${name}`, `#!/bin/sh\necho "${name} $*"\n`, { mode: 0o755 });
    }
    const [proxied = '', monitored = ''] = [...blocks(5), ...blocks(6)];
    const commands = `${proxied}${monitored.replaceAll(/^promtool query/gm, 'echo')}`
      .replaceAll('tools/deploy/proxies', `${folder}/proxies`)
      .replaceAll('/etc/', `${folder}/`);
    const env = { ...process.env, PATH: `${folder}/bin:${process.env['PATH']}` };
    const output = await runProgram('bash', ['-c', commands], { cwd: ROOT, env });
    // Each follows a check that succeeds.
    expect(output).toMatch(/^service haproxy restart$.*^service prometheus restart$/ms);
    const written = readFileSync(`${folder}/haproxy/haproxy.cfg`, 'utf8');
    expect(written).toMatch(/127\.0\.0\.1:3001.*127\.0\.0\.1:3002/s);
    expect(written).not.toMatch(/mode tcp|bind :::80|10\.0\.0\./);
    expect(statSync(`${folder}/ssl/animal-store.pem`).mode & 0o777).toBe(0o600);
  },
);
