import { freshDatabase } from '@animal-store/test-servers/mongodb';
import { inject, TestRunner } from 'vitest';

/** The URL of a new database for the running test, which is skipped if there is no server. */
export function freshPlace(): string {
  if ('missing' in inject('mongodb')) TestRunner.getCurrentTest()?.context.skip('no server');
  return freshDatabase();
}
