/** The API key that every server of a run accepts. */
export const KEY = process.env['API_KEYS'] as string;

export type PetStatus = 'available' | 'pending' | 'sold';

export interface NewPet {
  name: string;
  categoryId: number;
  status?: PetStatus;
}

export interface Pet extends NewPet {
  id: number;
}

/** A pet as MongoDB keeps it. */
export interface PetDocument extends NewPet {
  _id: number;
}

export const fromDocument = ({ _id, ...newPet }: PetDocument): Pet => ({ id: _id, ...newPet });

/** The storage of the handlers of Fastify. */
export interface PetTable {
  list(limit: number, status: PetStatus | undefined): Pet[] | Promise<Pet[]>;
  get(id: number): Pet | undefined | Promise<Pet | undefined>;
  create(pet: NewPet): Pet | Promise<Pet>;
}
