import { storageContract } from '@animal-store/adapter-contract';
import { createMemoryStorage } from './index.ts';

storageContract('memory', createMemoryStorage);
