/**
 * Whether tests can't run for want of something on this machine, which is said loudly then.
 *
 * @throws Error where the environment demands the tests: `<variable>=required`.
 */
export function isMissing({
  found,
  tests,
  because,
  remedy,
  variable,
}: {
  found: boolean;
  tests: string;
  because: string;
  remedy: string;
  variable: string;
}): boolean {
  if (found) return false;
  if (process.env[variable] === 'required') throw new Error(`${variable}=required, but ${because}`);
  const rule = '='.repeat(96);
  const lines = [
    `NOT RUN: ${tests},`,
    `because ${because}.`,
    '',
    remedy,
    `With ${variable}=required this is a failure.`,
  ];
  process.stderr.write(`\n${[rule, ...lines, rule].join('\n')}\n`);
  return true;
}
