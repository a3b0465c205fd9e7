import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFile, freshFolder } from '@animal-store/test-kit/fresh-folder';
import { expect, inject, test } from 'vitest';
import { configurationOf, expectEnough } from './environment.ts';
import { documented } from './programs.ts';

const text = readFileSync(new URL('../systemd/animal-store@.service', import.meta.url), 'utf8');

function values(directive: string): string[] {
  return [...text.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value]) => value as string);
}

/** The configuration of the service that the unit starts. */
function configuration() {
  const assignments = values('Environment').join(' ').replaceAll('%S', '/var/lib').replaceAll('%i', '3000').split(' ');
  const [credential = ''] = values('LoadCredential').map((value) => value.split(':')[0]);
  const given = Object.fromEntries(assignments.map((assignment) => assignment.split('=')));
  return configurationOf(given, { [`%d/${credential}`]: 'the-key-of-the-tests\n' });
}

test('animal-store@.service configures a service on SQLite with a key', () => {
  const { configuredKeys, storage } = configuration();
  expect([storage.name, configuredKeys.size]).toEqual(['sqlite', 1]);
  const [state] = values('StateDirectory');
  expect(values('Environment').join(' ')).toContain(`SQLITE_FILE=%S/${state}/`);
});

test('animal-store@.service leaves time for a graceful stop, and files for every connection', () => {
  const started = configuration();
  expectEnough(started, { seconds: Number(values('TimeoutStopSec')[0]) });
  expect(Number(values('LimitNOFILE')[0])).toBeGreaterThanOrEqual(started.MAX_CONNECTIONS + 200);
});

test('animal-store@.service starts the service again until its address or disk is there', () => {
  expect(values('Restart')).toEqual(['always']);
  // By default systemd gives up after five starts in ten seconds.
  expect(values('StartLimitIntervalSec')).toEqual(['0']);
});

test('the commands of the manual put a new version beside the former, and lead to it once it is built', () => {
  const folder = freshFolder();
  const clone = join(folder, 'clone');
  mkdirSync(clone);
  const commands = documented('deployment.md', /^release=.*\n.*\n.*ln -sfnT.*$/m).replaceAll('/opt', folder);
  const shell = (command: string) => spawnSync('sh', ['-c', command], { cwd: clone, encoding: 'utf8' });
  const commit = (build: string) => {
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ scripts: { build } }));
    const { status, stdout } = shell(
      `git add . && git -c user.name=zoo -c user.email=zoo@example.org commit -qm '${build}' && git rev-parse --short HEAD`,
    );
    expect(status).toBe(0);
    return join(folder, `animal-store-${stdout.trim()}`);
  };
  const current = () => readlinkSync(join(folder, 'animal-store'));
  expect(shell('git init -q')).toMatchObject({ status: 0 });

  const first = commit('true');
  expect(shell(commands)).toMatchObject({ status: 0 });
  expect(current()).toBe(first);
  commit('false');
  expect(shell(commands).status).not.toBe(0);
  expect(current()).toBe(first);
  const third = commit('true');
  expect(shell(commands)).toMatchObject({ status: 0 });
  expect(current()).toBe(third);
  expect(readdirSync(first)).toContain('package.json');
  // The unit reads it.
  expect(values('EnvironmentFile')).toContain('-/opt/animal-store/revision');
  const revision = readFileSync(join(third, 'revision'), 'utf8');
  expect(revision).toMatch(/^REVISION=[\da-f]{40}\n$/);
  expect(third).toContain(revision.slice('REVISION='.length).slice(0, 7));
});

test.skipIf(inject('missing').includes('systemd'))(
  'systemd accepts animal-store@.service and counts few rights',
  () => {
    // It checks that the program exists.
    const started = text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
    const file = freshFile('animal-store@3000.service', started);
    const analyze = (...words: string[]) => spawnSync('systemd-analyze', [...words, file], { encoding: 'utf8' });
    expect(analyze('verify', '--man=no')).toMatchObject({ status: 0, stderr: '' });
    // The score is from 0 to 100; a unit without restrictions has 96.
    const { status, stdout } = analyze('security', '--offline=true', '--threshold=20');
    expect(status, stdout).toBe(0);
  },
);
