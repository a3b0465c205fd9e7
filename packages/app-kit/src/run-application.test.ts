import { spawnSync } from 'node:child_process';
import { freshFile } from '@animal-store/test-kit/fresh-folder';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { onFirstSignal, requireNode } from './run-application.ts';

test.each([
  ['20.20.2', false],
  ['24.9.0', false],
  ['24.15.9', false],
  ['24.16.0', true],
  ['26.0.0', true],
])('requireNode judges Node.js %s: %s', (node, isSupported) => {
  const write = vi.fn();
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('process', { versions: { node }, version: `v${node}`, exitCode: undefined, stderr: { write } });
  expect(requireNode('animal-store')).toBe(isSupported);
  const line = `animal-store: needs Node.js 24.16 or newer, this is v${node}\n`;
  expect([write.mock.calls, process.exitCode]).toEqual(isSupported ? [[], undefined] : [[[line]], 2]);
});

test('a signal of the same kind within 0.5 s counts as the first, any other has its default action', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const run = vi.fn();
  const endWait = onFirstSignal(['SIGUSR2', 'SIGWINCH'], run);
  for (const time of [499, 1]) {
    process.emit('SIGUSR2', 'SIGUSR2');
    endWait();
    expect([process.listenerCount('SIGUSR2'), process.listenerCount('SIGWINCH')]).toEqual([1, 0]);
    vi.advanceTimersByTime(time);
  }
  expect(run.mock.calls).toEqual([['SIGUSR2']]);
  expect(process.listenerCount('SIGUSR2')).toBe(0);
  onFirstSignal(['SIGUSR2'], run)();
  expect(process.listenerCount('SIGUSR2')).toBe(0);
});

describe('runApplication, for an application of another repository', () => {
  /** Runs the application with these arguments. */
  function run(statements: string, ...words: string[]) {
    const kit = (module: string) => new URL(`./${module}.ts`, import.meta.url);
    const program = `
      import { runApplication } from '${kit('run-application')}';
      import { ConfigurationError } from '${kit('configuration-error')}';
      const version = '3.2.1-acme';
      const variables = { ACME_PORT: { fallback: '4000', rule: 'a port' }, ACME_KEY: { fallback: '', rule: 'a key' } };
      const start = async ({ onStop, writeMessage, endWithin }) => { ${statements} };
      await runApplication('acme', 'Serves animals over ACME.', async () => ({ start, version, variables }));`;
    const command = ['--conditions=@animal-store/source', freshFile('main.mjs', program), ...words];
    const options = { encoding: 'utf8', timeout: 120_000 } as const;
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, command, options);
    return { end: status ?? signal, stdout, stderr };
  }

  test.each([
    ['--version', 'acme 3.2.1-acme\n'],
    [
      '--help',
      'Usage: acme [--help | --version]\n\nServes animals over ACME.\n\nSettings are environment variables, with these defaults:\n  ACME_PORT (4000): a port\n  ACME_KEY: a key\n',
    ],
  ])('%s tells what is its own', (argument, stdout) => {
    expect(run('', argument)).toEqual({ end: 0, stdout, stderr: '' });
  });

  test('rejects an argument, and does not repeat it', () => {
    const stderr = 'acme: unexpected argument: settings are environment variables\n';
    expect(run('', 'postgres://me:secret@h/d')).toEqual({ end: 2, stdout: '', stderr });
  });

  const OPEN = 'setInterval(() => {}, 1_000);';

  test.each([
    ['nothing is left to do', '', 2],
    ['a storage is open', OPEN, 2],
    ['a storage is open beyond the time that the application has set', `${OPEN} endWithin(1_500);`, 'SIGKILL'],
  ])('ends after a configuration error and one line, complete, if %s', (_, statements, end) => {
    // More than a pipe holds.
    const stderr = `acme: ACME_KEY must be a key${'!'.repeat(100_000)}\n`;
    const thrown = `throw new ConfigurationError('ACME_KEY must be a key' + '!'.repeat(100_000));`;
    expect(run(statements + thrown)).toEqual({ end, stdout: '', stderr });
  });

  test('ends within its time if something hangs, and does not wait for that time otherwise', () => {
    expect(run(`endWithin(100); ${OPEN}`).end).toBe('SIGKILL');
    expect(run('endWithin(60_000);').end).toBe(0);
  });
});
