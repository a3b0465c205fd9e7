import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  // The exit code of settings that are wrong; 1 is that of a machine that is not ready.
  expect(values('RestartPreventExitStatus')).toEqual(['2']);
  // By default systemd gives up after five starts in ten seconds.
  expect(values('StartLimitIntervalSec')).toEqual(['0']);
});

test('the commands of the manual put a new version in the place of the former, which they keep', () => {
  const command = documented('deployment.md', /^rm -rf .* mv .*$/m);
  const folder = freshFolder();
  const build = (name: string, version: string) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, version), '');
  };
  build('animal-store', '1');
  for (const version of ['2', '3']) {
    build('next', version);
    expect(spawnSync('sh', ['-c', command.replaceAll('/opt', folder)])).toMatchObject({ status: 0 });
  }
  const files = readdirSync(folder, { recursive: true }).sort();
  expect(files).toEqual(['animal-store', 'animal-store/3', 'previous', 'previous/2']);
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
