import { hostname } from 'node:os';

/** This process, as the label of what it makes names it: host and process id. */
export const PROCESS: string = `${hostname()}/${process.pid}`;

/** Whether a process so named has ended; of another host's nothing is known. */
export function isGone(name: string): boolean {
  const [host, pid] = name.split('/');
  if (host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    // Any other error comes from a process that is there.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
