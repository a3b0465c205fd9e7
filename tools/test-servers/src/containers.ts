import { hostname } from 'node:os';
import { GenericContainer, getContainerRuntimeClient, ImageName } from 'testcontainers';

/** The label of containers of tests, by which a later run removes those of a run that has crashed. */
export const OWNER = 'animal-store.test.owner';

/** The owner of containers that this process starts: host and process id. */
export const PROCESS: string = `${hostname()}/${process.pid}`;

// The containers are recognised by their label: no helper container needs to watch them.
process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';

const A_DAY = 24 * 60 * 60;

/** A container that a later run recognises if this one crashes. */
export function testContainer(image: string): GenericContainer {
  return new GenericContainer(image).withLabels({ [OWNER]: PROCESS }).withStartupTimeout(600_000);
}

/**
 * Why there can be no containers of images: no engine responds, or an image can't be pulled. Null if there can; then those
 * of runs that crashed are removed.
 */
export async function whyNoContainers(...names: readonly string[]): Promise<string | null> {
  try {
    const { image } = await getContainerRuntimeClient();
    for (const name of names.map((each) => ImageName.fromString(each))) {
      if (!(await image.exists(name))) await image.pull(name);
    }
    await removeStaleContainers();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Whether a container can use the network of this machine: in Docker Desktop it gets that of a virtual machine. */
export async function hasHostNetwork(): Promise<boolean> {
  const { container } = await getContainerRuntimeClient();
  const { OperatingSystem } = await container.dockerode.info();
  return OperatingSystem !== 'Docker Desktop';
}

/**
 * Removes containers whose process on this machine is gone, and those of any machine that are a day old. It touches
 * nothing that does not carry the label.
 */
async function removeStaleContainers(): Promise<void> {
  const { container } = await getContainerRuntimeClient();
  const own = await container.dockerode.listContainers({ all: true, filters: { label: [OWNER] } });
  for (const { Id, Labels, Created } of own) {
    if (!isGone(Labels[OWNER] ?? '') && Date.now() / 1_000 - Created < A_DAY) continue;
    // Another run may be removing it, too.
    await container
      .getById(Id)
      .remove({ force: true, v: true })
      .catch(() => {});
  }
}

/** Whether the process with this name has ended; false for a process of another host. */
function isGone(name: string): boolean {
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
