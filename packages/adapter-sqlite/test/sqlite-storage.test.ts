import { storageContract } from '@animal-store/adapter-contract';
import { createSqliteStorage } from '../src/index.ts';
import { freshFile } from './fresh-file.ts';

storageContract('sqlite', () => createSqliteStorage({ file: freshFile() }));
