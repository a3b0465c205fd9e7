import { hostname } from 'node:os';

/** The label of this process on containers that it makes: host and process id. */
export const PROCESS: string = `${hostname()}/${process.pid}`;

/** Whether the process with this label has ended; false for a process of another host. */
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
