import { beforeEach, inject } from 'vitest';

// The same tests as in memory: all of them run where there is a server, and none where there isn't.
beforeEach(({ skip }) => {
  if ('missing' in inject('mongodb')) skip();
});
