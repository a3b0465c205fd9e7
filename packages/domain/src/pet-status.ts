/** The availabilities of an animal, in the order in which the interface lists them. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

/** Availability of an animal. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** Whether a value is a {@link PetStatus}; case matters. */
export function isPetStatus(value: unknown): value is PetStatus {
  return value === 'available' || value === 'pending' || value === 'sold';
}
