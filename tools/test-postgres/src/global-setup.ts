import { whyNoContainers } from '@animal-store/test-kit/containers';
import { sharedServer } from '@animal-store/test-kit/shared-server';
import type {} from './index.ts';
import { IMAGE, startServer } from './server.ts';

export default sharedServer({
  name: 'PostgreSQL',
  imageVariable: 'POSTGRES_IMAGE',
  async start() {
    const missing = await whyNoContainers(IMAGE);
    if (missing !== null) return { missing };
    const { url, stop } = await startServer();
    return { provided: { url }, stop };
  },
  provide: (project, provided) => project.provide('postgres', provided),
});
