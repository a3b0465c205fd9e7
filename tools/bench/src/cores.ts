import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Whether each server gets the first core for itself, and the load the others (Linux, two cores or more). */
export const PINNED: boolean = availableParallelism() > 1 && hasTaskset();

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The command of a server, on the server's core. */
export function onServerCore(command: readonly string[]): readonly string[] {
  return PINNED ? ['taskset', '--cpu-list', '0', ...command] : command;
}

/** Moves this process, which makes the load, away from the server's core. */
export function moveToLoadCores(): void {
  if (!PINNED) return;
  const others = `1-${availableParallelism() - 1}`;
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', others, String(process.pid)], { stdio: 'ignore' });
}
