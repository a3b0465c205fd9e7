import { onTestFinished } from 'vitest';
import { docker, OWNED } from './docker.ts';

/** Starts a container, which is removed when the running test ends, and returns its id. */
export async function start(...args: readonly string[]): Promise<string> {
  const container = await docker('run', '--detach', OWNED, ...args);
  onTestFinished(async () => {
    await docker('rm', '--force', '--volumes', container);
  });
  return container;
}

/** Makes a network, which is removed when the running test ends, and returns its name. */
export async function makeNetwork(): Promise<string> {
  const name = `animal-store-test-${process.pid}`;
  await docker('network', 'create', OWNED, name);
  onTestFinished(async () => {
    await docker('network', 'rm', name);
  });
  return name;
}
