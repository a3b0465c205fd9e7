/** @module @animal-store/exact-json */

export { exactNumber } from './exact-number.ts';
export type { ParseOptions } from './parse.ts';
export { parse } from './parse.ts';
export { stringify } from './stringify.ts';
export type { JsonSyntaxError } from './syntax-error.ts';
export { findSyntaxError } from './syntax-error.ts';
