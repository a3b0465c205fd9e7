// Generators for TypeScript and mock servers can't hold the extremes of 64 bits.
export const EXAMPLE_NEW_PET = { name: 'Rex', categoryId: 42, status: 'available' } as const;
export const EXAMPLE_PET = { id: 1, ...EXAMPLE_NEW_PET } as const;
