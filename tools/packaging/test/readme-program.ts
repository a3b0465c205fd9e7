import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './packages.ts';

export const readmeOf = (name: string): string => readFileSync(join(folderOf(name), 'README.md'), 'utf8');

/** The code blocks of a package's README, which build on each other, as one program. */
export function programOf(name: string): string {
  return [...readmeOf(name).matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code).join('\n');
}

/** The output that the comments behind `console.log` promise. Throws an Error if one has no comment. */
export function promisedOutput(program: string): string[] {
  const promised = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line as string);
  if (promised.length === program.match(/console\.log/g)?.length) return promised;
  throw new Error(`each console.log of a README has a comment with its output:\n${program}`);
}

/** The packages that a program imports. */
export const packagesOf = (program: string): string[] =>
  [...program.matchAll(/from '@animal-store\/([a-z-]+)/g)].map(([, name]) => name as string);
