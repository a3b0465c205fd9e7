import { IMAGE, startServer } from './postgres/server.ts';
import type {} from './postgres.ts';
import { sharedServer } from './shared-server.ts';

export default sharedServer({
  name: 'PostgreSQL',
  key: 'postgres',
  image: IMAGE,
  async start() {
    const { url, stop } = await startServer();
    return { provided: { url }, stop };
  },
});
