/** Tests that can't run because this machine lacks something. */
export interface NotRun {
  /** It follows NOT RUN: */
  readonly tests: string;
  readonly because: string;
  readonly remedy: string;
  /** The variable that makes it a failure if it is `required` or `nightly`. */
  readonly variable?: 'ALL_TESTS' | 'MONGODB_TESTS';
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
