import { GenericContainer, getContainerRuntimeClient, ImageName } from 'testcontainers';
import { isGone, PROCESS } from './owner.ts';

const OWNER = 'animal-store.test.owner';
const A_DAY = 24 * 60 * 60;

/** A container that a later run recognises if this one crashes. */
export function testContainer(image: string): GenericContainer {
  return new GenericContainer(image).withLabels({ [OWNER]: PROCESS }).withStartupTimeout(60_000);
}

/**
 * Why there can be no containers of an image: no engine responds, or the image can't be pulled. Null if there can; then
 * those of runs that crashed are removed.
 */
export async function whyNoContainers(name: string): Promise<string | null> {
  try {
    const { image } = await getContainerRuntimeClient();
    const parsed = ImageName.fromString(name);
    if (!(await image.exists(parsed))) await image.pull(parsed);
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
