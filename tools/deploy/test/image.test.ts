import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freshFile, freshFolder } from '@animal-store/test-kit/fresh-folder';
import { ROOT, run as runProgram } from '@animal-store/test-kit/programs';
import { callsTo, KEY } from '@animal-store/test-kit/service';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { addressOf, buildImage, docker, startContainer } from './programs.ts';

/** The commands of the manual that copy the file of a container, and restore the copy. */
const MANUAL = readFileSync(join(ROOT, 'docs/storage-sqlite.md'), 'utf8')
  .replaceAll('\\\n', '')
  .match(/^docker .+$/gm) as [string, string, string, string];

const BUILD = { VERSION: '1.2.3-test', REVISION: '0123abc', SOURCE: 'https://example.org/animal-store' };

/** As few rights as operators grant. */
const RESTRICTED = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--user=1000'];

/** More frequent health checks than the default of the image. */
const FREQUENT_CHECKS = ['--health-interval=300ms'];

const PUBLISHED = ['--publish=127.0.0.1::3000'];

let image: string;
/** The paths of its files, of its links to nothing, and of what does not belong to root or others may write. */
let files: { paths: string[]; dangling: string[]; changeable: string[] };

test('the Dockerfile names the version of the packages', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const { version } = JSON.parse(read('packages/domain/package.json'));
  expect(read('tools/deploy/image/Dockerfile')).toContain(`\nARG VERSION=${version}\n`);
});

describe.skipIf(inject('missing').includes('image'))('the container image', () => {
  beforeAll(async () => {
    image = await buildImage(BUILD);
    files = JSON.parse(await docker('run', '--rm', image, 'node', '--eval', LIST_FILES));
  });

  test('has a user, a command without a shell, a health check and labels, and less than 180 MB', async () => {
    const [{ Config, Size }] = JSON.parse(await docker('image', 'inspect', image));
    expect(Config.User).toBe('1000:1000');
    // A shell in between would not forward signals.
    expect([Config.Entrypoint, Config.Cmd]).toEqual([
      null,
      ['node', '--max-semi-space-size=16', 'apps/http/dist/main.js'],
    ]);
    expect(Config.Healthcheck.Test.slice(0, 2)).toEqual(['CMD', 'node']);
    expect(Object.keys(Config.ExposedPorts)).toEqual(['3000/tcp']);
    expect(Config.Env).toEqual(expect.arrayContaining(['NODE_ENV=production', 'HOST=::']));
    expect(Config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'Animal Store',
      'org.opencontainers.image.version': BUILD.VERSION,
      'org.opencontainers.image.revision': BUILD.REVISION,
      'org.opencontainers.image.source': BUILD.SOURCE,
    });
    expect(Size / 1e6).toBeLessThan(180);
  });

  test('contains the production files only, and none that its user could change', () => {
    const { paths, dangling, changeable } = files;
    const REQUIRED = ['/app/apps/http/dist/main.js', '/app/apps/cli/dist/main.js', '/app/LICENSE'];
    expect(paths).toEqual(expect.arrayContaining(REQUIRED));
    const FORBIDDEN = /\.(?:[cm]?ts|map|env|npmrc|pem|key)$|\/(?:npm|pnpm|sh|bash)$/;
    const TEST = /^\/app\/(?:apps|packages)\/[^/]+\/(?!node_modules\/)(?:.*[/.])?test[/.]/;
    expect(paths.filter((path) => FORBIDDEN.test(path) || TEST.test(path))).toEqual([]);
    expect(dangling).toEqual([]);
    const packages = [...new Set(paths.flatMap((path) => /\/\.pnpm\/((?:@[^/]+\+)?[^/@]+)@/.exec(path)?.[1] ?? []))];
    expect(packages).toEqual(expect.arrayContaining(['hono', 'mongodb', 'prom-client']));
    const FOR_DEVELOPERS = /^(?:typescript|vitest|turbo|testcontainers|fast-check|playwright-core|node-linux-.*)$/;
    expect(packages.filter((name) => FOR_DEVELOPERS.test(name))).toEqual([]);
    expect(changeable).toEqual(['/data']);
  });

  test('contains the license of each npm package', async () => {
    const { paths } = files;
    const folders = paths.flatMap(
      (path) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path)?.[1] ?? [],
    );
    expect(folders.length).toBeGreaterThan(10);
    const licensed = new Set(paths.filter((path) => /\/(?:licen[cs]e|copying)[^/]*$/i.test(path)).map(dirname));
    // Some packages have the license in their README only.
    const unlicensed = folders.filter((folder) => !licensed.has(folder));
    const readmes = `JSON.stringify(${JSON.stringify(unlicensed)}.map((folder) => fs.readFileSync(folder + '/README.md', 'utf8')))`;
    for (const readme of JSON.parse(await docker('run', '--rm', image, 'node', '--print', readmes))) {
      expect(readme).toMatch(/^#+ licen[cs]e$[^#]*copyright \(c\)[^#]*permission is hereby granted/im);
    }
  });

  test('says its version and its revision', async () => {
    const said = await docker('run', '--rm', image, 'node', 'apps/http/dist/main.js', '--version');
    expect(said).toMatch(new RegExp(`^animal-store \\d+\\.\\d+\\.\\d+\\S* \\(revision ${BUILD.REVISION}\\)$`));
  });

  test('becomes healthy, serves requests over IPv4 and IPv6 with restricted rights, and stops', async () => {
    const container = await startHealthy(...PUBLISHED, '--sysctl=net.ipv6.conf.all.disable_ipv6=0');
    const { call, add } = await serviceOf(container);
    expect((await call('/v1/pets', 'not the key that it has')).status).toBe(401);
    expect(await (await add('Rex')).text()).toBe('{"id":1,"name":"Rex","categoryId":9223372036854775807}');
    // Assets come from packages and from a folder beside the built modules.
    for (const path of ['/docs', '/docs/docs.js', '/docs/swagger-ui-bundle.js', '/metrics', '/openapi.json']) {
      expect((await call(path)).status, path).toBe(200);
    }
    for (const host of ['127.0.0.1', '[::1]']) {
      const status = `fetch('http://${host}:3000/livez').then(({ status }) => console.log(status))`;
      expect(await docker('exec', container, 'node', '--eval', status), host).toBe('200');
    }
    await docker('stop', container);
    expect(await docker('wait', container)).toBe('0');
  });

  test.each([
    ['a name', ['--hostname=pets', '--env=HOST=pets']],
    ['all addresses, without IPv6 in the container', ['--sysctl=net.ipv6.conf.all.disable_ipv6=1']],
  ])('has a health check that follows PORT and HOST: %s', async (_, host) => {
    await startHealthy(...host, '--env=PORT=3001');
  });

  test('is unhealthy if nothing listens', async () => {
    const container = await startContainer(
      ...[...RESTRICTED, ...FREQUENT_CHECKS, '--health-retries=1', '--health-start-period=1ms'],
      ...[image, 'node', '--eval', 'setInterval(() => {}, 1_000)'],
    );
    await healthOf(container, 'unhealthy');
  });

  test('keeps pets in a SQLite file in a volume across a restart, and restores a backup', async () => {
    const on = [
      '--volume=/data',
      '--env=STORAGE=sqlite',
      '--env=SQLITE_FILE=/data/animals.db',
      `--env=API_KEYS=${KEY}`,
    ];
    const container = await startContainer(...RESTRICTED, ...PUBLISHED, ...on, image);
    expect((await (await serviceOf(container)).add('Rex')).status).toBe(201);
    await docker('restart', container);
    const { call, add } = await serviceOf(container);
    expect(await (await call('/v1/pets/1')).text()).toContain('"name":"Rex"');

    const folder = freshFolder();
    /** Runs a command of the manual with the names of this container and its image. */
    const run = (command: string) => {
      const named = command
        .replace(/(?<=db )animal-store/, image)
        .replaceAll(/(?<=(exec|25|from|start) )animal-store/g, container);
      return runProgram('/bin/sh', ['-c', named], { cwd: folder });
    };
    const [backup, stop, restore, start] = MANUAL;
    await run(backup);
    expect((await add('Max')).status).toBe(201);
    await expect(run(restore)).rejects.toMatchObject({
      stderr: expect.stringContaining('another process has it open'),
    });
    await run(stop);
    await run(restore);
    await run(start);
    const restored = await serviceOf(container);
    expect(await (await restored.call('/v1/pets')).text()).toBe(
      '[{"id":1,"name":"Rex","categoryId":9223372036854775807}]',
    );
    // A million ids are skipped after that of Max.
    expect(await (await restored.add('Tom')).json()).toMatchObject({ id: 1_000_003 });
  });

  test('rejects a SQLite file that is mounted without its folder', async () => {
    const file = freshFile('zoo.db', '');
    chmodSync(file, 0o666);
    const on = ['--env=STORAGE=sqlite', '--env=SQLITE_FILE=/data/zoo.db', `--env=API_KEYS=${KEY}`];
    await expect(docker('run', '--rm', `--volume=${file}:/data/zoo.db`, ...on, image)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^animal-store: SQLITE_FILE: .* mount its folder instead\n$/),
    });
  });
});

/** Prints the files of the image without those of the kernel and the engine. */
const LIST_FILES = `
  const [paths, dangling, changeable] = [[], [], []];
  const list = (folder) => {
    for (const entry of fs.readdirSync(folder + '/', { withFileTypes: true })) {
      const path = folder + '/' + entry.name;
      if (/^\\/(?:proc|sys|dev|\\.dockerenv|etc\\/(?:hosts|hostname|resolv.conf))$/.test(path)) continue;
      if (entry.isSymbolicLink()) {
        if (!fs.existsSync(path)) dangling.push(path);
        continue;
      }
      paths.push(path);
      const { uid, mode } = fs.statSync(path);
      if (uid !== 0 || (mode & 0o022) !== 0) changeable.push(path);
      if (entry.isDirectory()) list(path);
    }
  };
  list('');
  console.log(JSON.stringify({ paths, dangling, changeable }));
`;

/** Starts the service in memory with restricted rights, and waits until its health check succeeds. */
async function startHealthy(...options: readonly string[]): Promise<string> {
  const environment = ['--env=STORAGE=memory', `--env=API_KEYS=${KEY}`];
  const container = await startContainer(...RESTRICTED, ...FREQUENT_CHECKS, ...environment, ...options, image);
  await healthOf(container, 'healthy');
  return container;
}

/** Waits until the health check of the image has this result. */
async function healthOf(container: string, health: string): Promise<void> {
  const read = () => docker('inspect', '--format', '{{.State.Health.Status}}', container);
  await expect.poll(read, { interval: 200 }).toBe(health);
}

/** The service whose port a container publishes, once it listens. */
async function serviceOf(container: string) {
  const calls = callsTo(`http://${await addressOf(container, 3000)}`);
  const ready = () => calls.call('/readyz').then(({ status }) => status, String);
  await expect.poll(ready, { interval: 100 }).toBe(200);
  return calls;
}
