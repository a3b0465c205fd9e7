// Loaded into a server with --import: on SIGUSR2 it collects garbage and prints how many bytes are in use.
import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  writeSync(2, `bytes in use: ${heapUsed + external}\n`);
});
