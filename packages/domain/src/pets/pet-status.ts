import { violation } from '../quote.ts';

/** The availabilities of a pet, in the order in which the interface lists them. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** Availability of a pet. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** The violation of a status, or null. It may be absent; case matters. */
export function statusViolation(status: unknown): string | null {
  if (status === undefined || PET_STATUSES.includes(status as PetStatus)) return null;
  return violation(`status must be one of ${PET_STATUSES.join(', ')}`, status);
}
