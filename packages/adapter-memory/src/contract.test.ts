import { storageContract } from '@animal-store/adapter-contract';
import { createMemory, openMemory } from './open.ts';

storageContract('memory', { freshPlace: createMemory, open: openMemory, interruptions: 'not tested' });
