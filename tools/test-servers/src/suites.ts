import { afterAll, describe } from 'vitest';

/**
 * Declares suites that are skipped if the run lacks their requirements; the end of the run says so. Runs of projects without
 * the database import the file of such suites, too: nothing is provided to them.
 *
 * @param close Closes the clients of a test file.
 */
export const describeIf = (isThere: () => boolean, close?: () => Promise<void>) => (name: string, suites: () => void) =>
  describe.skipIf(!isThere())(name, () => {
    suites();
    // The last hook is the first to run: while the server is still there.
    if (close !== undefined) afterAll(close);
  });
