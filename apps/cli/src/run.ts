import { createWriteStream, fstatSync } from 'node:fs';
import { openStorage } from '@animal-store/app-kit';
import { EXIT_INTERRUPTED } from './interruptible.ts';
import { MESSAGES } from './messages.ts';
import { EXIT_FAILED, runProgram } from './program.ts';

const { argv, env: environment, stdin, stderr } = process;
// To a file process.stdout writes once, and drops without an error what a full disk did not take.
const isFile = fstatSync(1).isFile();
const stdout = isFile ? createWriteStream('', { fd: 1, flush: true }) : process.stdout;

stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe, like `head`, needs no message.
  if (error.code !== 'EPIPE') stderr.write(MESSAGES.line(error.message));
  process.exit(EXIT_FAILED);
});
// A command continues without its messages.
stderr.on('error', () => {});
const words = argv.slice(2);
process.exitCode = await runProgram({ words, environment, stdin, stdout, stderr, clock: Date.now, openStorage });
if (isFile) stdout.end();
// A signal does not wait until a stalled reader of the pipe continues.
else if (process.exitCode === EXIT_INTERRUPTED) process.exit();
