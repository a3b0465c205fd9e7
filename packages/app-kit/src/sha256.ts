import { hash } from 'node:crypto';
import type { Digest } from '@animal-store/domain';

/** SHA-256 (FIPS 180-4), the digest of API keys. */
export const sha256: Digest = (text) => hash('sha256', text, 'hex');
