import { IMAGE, startServer } from './mongodb/server.ts';
import { sharedServer } from './shared-server.ts';

export default sharedServer({ name: 'MongoDB', key: 'mongodb', image: IMAGE, start: startServer });
