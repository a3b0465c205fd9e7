import { freshDatabase } from '@animal-store/test-servers/postgres';
import { inject, TestRunner } from 'vitest';

/** The URL of a new database for the running test, which is skipped if there is no server. */
export function freshPlace(): string {
  if ('missing' in inject('postgres')) TestRunner.getCurrentTest()?.context.skip('no server');
  return freshDatabase();
}
