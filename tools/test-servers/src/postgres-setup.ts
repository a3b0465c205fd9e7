import { IMAGE, startServer } from './postgres/server.ts';
import { sharedServer } from './shared-server.ts';

export default sharedServer({ name: 'PostgreSQL', key: 'postgres', image: IMAGE, start: startServer });
