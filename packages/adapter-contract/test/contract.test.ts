import { sharedRateLimiterContract, storageContract } from '../src/index.ts';
import { testAdapter } from './broken-copies.ts';

storageContract('an adapter without errors', testAdapter());
sharedRateLimiterContract('an adapter without errors', testAdapter());
