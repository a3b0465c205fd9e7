import { readFileSync } from 'node:fs';

/** The text of docs/clients.md. */
export const MANUAL = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');

/** A code block of docs/clients.md. */
export interface Recipe {
  /** How the block is highlighted: sh, js, python. */
  readonly language: string;
  /** The second word behind the fence. */
  readonly name: string;
  readonly code: string;
}

/** The code blocks of docs/clients.md that have a name, in their order. */
export function readRecipes(): readonly Recipe[] {
  const fences = MANUAL.matchAll(/^```(\w+) (\S+)\n(.*?)^```$/gms);
  return [...fences].map(([, language = '', name = '', code = '']) => ({ language, name, code }));
}

/** @throws Error if no code block has this name. */
export function recipe(name: string): Recipe {
  const found = readRecipes().find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`docs/clients.md has no code block named ${name}`);
  return found;
}
