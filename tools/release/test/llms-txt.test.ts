import { expect, test } from 'vitest';
import { llmsTxt } from '../src/llms-txt.ts';
import { read } from '../src/repository.ts';

test('llms.txt is what `npm run release -- llms` writes', () => {
  expect(read('llms.txt')).toBe(llmsTxt());
});
