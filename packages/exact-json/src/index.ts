export { exactJson } from './exact-json.ts';
export { numberLiteral } from './json-member.ts';
export { integerOf } from './json-number.ts';
