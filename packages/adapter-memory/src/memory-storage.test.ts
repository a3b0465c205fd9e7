import { storageContract } from '@animal-store/adapter-contract';
import { createMemory, openMemory } from './memory-storage.ts';

storageContract('memory', { freshPlace: createMemory, open: openMemory, outages: 'not tested' });
