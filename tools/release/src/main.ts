import { audit, image, pack, publish, push, version } from './artifacts.ts';
import { rehearse } from './rehearse.ts';

const commands: Record<string, () => void | Promise<void>> = {
  ...{ version, pack, image, publish, rehearse, audit },

  /** Pushes the image to IMAGE, a name with its tag, and prints its digest. */
  push: () => console.log(push(`docker://${process.env['IMAGE']}`)),
};

const [name = '', ...others] = process.argv.slice(2);
const command = commands[name];
if (command === undefined || others.length > 0) {
  console.error(`usage: npm run release -- ${Object.keys(commands).join('|')}`);
  process.exit(2);
}
try {
  await command();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
