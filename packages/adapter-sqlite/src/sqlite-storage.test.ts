import { storageContract } from '@animal-store/adapter-contract';
import { freshFile } from '../test/fresh-file.ts';
import { createSqliteStorage } from './index.ts';

storageContract('sqlite', () => createSqliteStorage({ file: freshFile() }));
