/** @module @animal-store/exact-json */

export type { ParseOptions } from './parse.ts';
export { parse } from './parse.ts';
export { restoreNumber } from './restore-number.ts';
export { stringify } from './stringify.ts';
export type { JsonSyntaxError } from './syntax-error.ts';
export { findSyntaxError } from './syntax-error.ts';
