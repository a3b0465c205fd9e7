import { hash } from 'node:crypto';
import type { Digest } from '@animal-store/domain';

export const sha256: Digest = (text) => hash('sha256', text, 'hex');
