import type {} from '@animal-store/test-mongodb';
import type {} from '@animal-store/test-postgres';
import { beforeEach, inject } from 'vitest';

// The same tests as in memory: all of them run where there is a server, and none where there isn't.
beforeEach(({ skip }) => {
  if ('missing' in inject(process.env['TEST_STORAGE'] as 'mongodb' | 'postgres')) skip();
});
