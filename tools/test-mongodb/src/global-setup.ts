import { sharedServer } from '@animal-store/test-kit/shared-server';
import type {} from './index.ts';
import { startServer } from './server.ts';

export default sharedServer({
  name: 'MongoDB',
  imageVariable: 'MONGODB_IMAGE',
  start: startServer,
  provide: (project, provided) => project.provide('mongodb', provided),
});
