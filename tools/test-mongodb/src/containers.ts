import { testContainer } from '@animal-store/test-kit/containers';
import type { GenericContainer } from 'testcontainers';

/** The image of the server. */
export const IMAGE: string = process.env['MONGODB_IMAGE'] ?? 'mongo:8.0';

/** Options that make mongod a small server. */
export const SMALL = ['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '128'];

/** A container of the server's image. Its data is in memory. */
export const mongoContainer = (): GenericContainer => testContainer(IMAGE).withTmpFs({ '/data/db': 'rw' });
