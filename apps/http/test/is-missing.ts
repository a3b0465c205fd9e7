/**
 * Whether tests can't run for want of something on this machine, which is said loudly then.
 *
 * @throws Error if ALL_TESTS=required.
 */
export function isMissing({
  found,
  tests,
  because,
  remedy,
}: {
  found: boolean;
  tests: string;
  because: string;
  remedy: string;
}): boolean {
  if (found) return false;
  if (process.env['ALL_TESTS'] === 'required') throw new Error(`ALL_TESTS=required, but ${because}`);
  const rule = '='.repeat(96);
  const lines = [`NOT RUN: ${tests},`, `because ${because}.`, '', remedy, 'With ALL_TESTS=required this is a failure.'];
  process.stderr.write(`\n${[rule, ...lines, rule].join('\n')}\n`);
  return true;
}
