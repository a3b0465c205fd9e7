import { removeStaleContainers, whyNoContainers } from '@animal-store/test-mongodb/containers';
import { sharedServer } from '@animal-store/test-mongodb/shared-server';
import type {} from './index.ts';
import { IMAGE, startServer } from './server.ts';

export default sharedServer({
  name: 'PostgreSQL',
  imageVariable: 'POSTGRES_IMAGE',
  async start() {
    const missing = await whyNoContainers(IMAGE);
    if (missing !== null) return { missing };
    await removeStaleContainers();
    const { url, stop } = await startServer();
    return { provided: { url }, stop };
  },
  provide: (project, provided) => project.provide('postgres', provided),
});
