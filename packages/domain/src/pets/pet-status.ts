import { violation } from '../quote.ts';

/** The availabilities of a pet, in the order in which the interface lists them. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** Availability of a pet. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** Whether a value is one of {@link PET_STATUSES}; case matters. */
export function isPetStatus(value: unknown): value is PetStatus {
  return PET_STATUSES.includes(value as PetStatus);
}

/** The violation of a status, or null. It may be absent, which null is not; case matters. */
export function statusViolation(status: unknown): string | null {
  if (status === undefined || isPetStatus(status)) return null;
  return violation(`status must be one of ${PET_STATUSES.join(', ')}`, status);
}
