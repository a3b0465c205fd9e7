import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { parseAst } from 'vitest/node';

/** Whether a file uses a decorator on a class, a member or a parameter. */
export function usesDecorators(file: string): boolean {
  const source = readFileSync(file, 'utf8');
  // Most files hold no such character outside comments; those that do are parsed.
  return source.includes('@') && holdsDecorator(parseAst(source, { lang: extname(file) === '.ts' ? 'ts' : 'js' }));
}

function holdsDecorator(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if ('type' in node && node.type === 'Decorator') return true;
  return Object.values(node).some(holdsDecorator);
}
