import type {} from '@animal-store/test-servers/mongodb';
import type {} from '@animal-store/test-servers/postgres';
import { beforeEach, inject } from 'vitest';

// The same tests as in memory. They run if there is a server; files need none.
beforeEach(({ skip }) => {
  const server = inject(process.env['TEST_STORAGE'] as 'mongodb' | 'postgres') as object | undefined;
  if (server !== undefined && 'missing' in server) skip();
});
