const petStatus = { type: 'string', enum: ['available', 'pending', 'sold'] };

/** What a client sends to add an animal. */
export const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    categoryId: { type: 'integer' },
    status: petStatus,
  },
};

/** An animal as it is answered. */
export const pet = { ...newPet, properties: { id: { type: 'integer' }, ...newPet.properties } };

/** The query string of a list. */
export const query = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, status: petStatus },
};
