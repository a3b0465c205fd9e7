import { ALL_PETS } from '@animal-store/domain/ports';
import { expect, test } from 'vitest';
import { FULL_SELECTIONS } from '../src/samples.ts';

test.each(Object.keys(ALL_PETS))(
  'the contract asks for a value of the filter %s that one of two pets has',
  (filter) => {
    expect(FULL_SELECTIONS.map((selection) => Reflect.get(selection, filter))).toContainEqual(expect.anything());
  },
);
