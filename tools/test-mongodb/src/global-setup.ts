import type {} from './index.ts';
import { startServer } from './server.ts';
import { sharedServer } from './shared-server.ts';

export default sharedServer({
  name: 'MongoDB',
  imageVariable: 'MONGODB_IMAGE',
  start: startServer,
  provide: (project, provided) => project.provide('mongodb', provided),
});
