import { spawnSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The names of what the tests of a project need and this machine lacks. */
    missing: readonly string[];
  }
}

/** Tests that can't run because this machine lacks something. */
export interface NotRun {
  /** It follows NOT RUN: */
  readonly tests: string;
  readonly because: string;
  readonly remedy: string;
  /** The variable that makes it a failure if it is `required` or `nightly`. */
  readonly variable?: 'ALL_TESTS' | 'DATABASE_TESTS';
}

/**
 * The message about tests that can't run, best shown at the end of the run.
 *
 * @throws Error if the tests are required.
 */
export function notRun({ tests, because, remedy, variable = 'ALL_TESTS' }: NotRun): string {
  const value = process.env[variable];
  if (value === 'required' || value === 'nightly') throw new Error(`${variable}=${value}, but ${because}`);
  const failure = `With ${variable}=required this is a failure.`;
  const rule = '='.repeat(96);
  return `\n${[rule, `NOT RUN: ${tests},`, `because ${because}.`, '', remedy, failure, rule].join('\n')}\n\n`;
}

/** Whether tests can't run, with a message. Throws an Error if ALL_TESTS=required. */
export function isMissing({ found, ...missing }: NotRun & { readonly found: boolean }): boolean {
  if (!found) process.stderr.write(notRun(missing));
  return !found;
}

/** What tests need beyond Node.js. */
export interface Requirement extends Pick<NotRun, 'tests' | 'remedy'> {
  /** The reason if it is missing, or null. */
  readonly whyMissing: () => string | null | Promise<string | null>;
}

/** A `globalSetup` that provides the names of missing requirements, and reports at the end which tests have not run. */
export const checkRequirements =
  (requirements: Readonly<Record<string, Requirement>>) =>
  async (project: TestProject): Promise<() => void> => {
    const missing = new Map<string, string>();
    for (const [name, { whyMissing, ...tests }] of Object.entries(requirements)) {
      const because = await whyMissing();
      if (because !== null) missing.set(name, notRun({ ...tests, because }));
    }
    project.provide('missing', [...missing.keys()]);
    return () => void process.stderr.write([...missing.values()].join(''));
  };

/** Why a command of the shell fails; null if it succeeds. */
export const whyFails = (command: string): string | null =>
  spawnSync('sh', ['-c', command]).status === 0 ? null : `this command fails: ${command}`;
