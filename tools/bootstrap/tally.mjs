/** Numbers of checks and tests by result. As a string it is the last line of a run. */
export function tally({ passed = 0, failed = 0, skipped = 0 } = {}) {
  return {
    passed,
    failed,
    skipped,
    toString: () => `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  };
}

/** The sum of tallies. */
export function total(...tallies) {
  const sum = (key) => tallies.reduce((count, each) => count + each[key], 0);
  return tally({ passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') });
}
