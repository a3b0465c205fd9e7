import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { llmsTxt } from './llms-txt.ts';
import { ROOT } from './repository.ts';
import { readSurface } from './surface.ts';

const commands: Record<string, () => void | Promise<void>> = {
  /** Writes llms.txt. */
  llms: () => writeFileSync(join(ROOT, 'llms.txt'), llmsTxt()),

  /** Writes the list of the names that this checkout has, as those that are published. */
  surface: async () =>
    writeFileSync(join(ROOT, 'tools/release/surface.json'), `${JSON.stringify(await readSurface(), null, 2)}\n`),
};

const [name = '', ...others] = process.argv.slice(2);
const command = commands[name];
if (command === undefined || others.length > 0) {
  console.error(`usage: npm run release -- ${Object.keys(commands).join('|')}`);
  process.exit(2);
}
await command();
