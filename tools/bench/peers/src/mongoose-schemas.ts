import { Schema } from 'mongoose';
import type { PetDocument } from './pets.ts';

export const petSchema = new Schema<PetDocument>(
  {
    _id: Number,
    name: { type: String, required: true, maxlength: 200 },
    categoryId: { type: Number, required: true },
    status: { type: String, enum: ['available', 'pending', 'sold'] },
  },
  { versionKey: false, writeConcern: { w: 'majority', j: true } },
);
petSchema.index({ status: 1, _id: 1 });

export interface Counter {
  _id: string;
  last: number;
}

export const counterSchema = new Schema<Counter>({ _id: String, last: Number });
