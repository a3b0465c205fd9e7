const status = { type: 'string', enum: ['available', 'pending', 'sold'] };

export const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 200 }, categoryId: { type: 'integer' }, status },
};

export const pet = { ...newPet, properties: { id: { type: 'integer' }, ...newPet.properties } };

export const pets = { type: 'array', items: pet };

export const listQuery = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, status },
};

export const petParams = { type: 'object', properties: { petId: { type: 'integer' } } };
