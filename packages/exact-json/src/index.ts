/** @module @animal-store/exact-json */

export type { ParseOptions } from './parse.ts';
export { parse } from './parse.ts';
export { stringify } from './stringify.ts';
