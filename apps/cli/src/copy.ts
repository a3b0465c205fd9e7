import { isDeepStrictEqual } from 'node:util';
import { onFirstSignal } from '@animal-store/app-kit/run-application';
import type { ApiKey } from '@animal-store/domain';
import type { KeyStore, StoredPet } from '@animal-store/domain/ports';
import { type Command, Option } from 'commander';
import { CommandFailed, type Context, type CopySource, type CopyTarget, type TargetOptions } from './context.ts';
import { ERASE_LINE, MESSAGES } from './messages.ts';
import { print } from './print.ts';

/** How many pets a call reads or stores, and how many API keys are stored at once. */
const BATCH = 1_000;

export function addCopy(program: Command, { withTarget, stdout, stderr }: Context): void {
  program
    .command('copy')
    .description(
      'Copies all pets and API keys to another storage. To continue after an interruption, repeat the command.',
    )
    .addOption(new Option('--to <setting>', 'the other storage, as its variable names it').conflicts('toFile'))
    .option('--to-file <name>', 'a file that holds this setting')
    .option('--to-storage <module>', 'the adapter, if it is from another repository')
    .action((options: TargetOptions) =>
      withTarget(options, async (source, target) => {
        const eraseLine = stderr.isTTY ? ERASE_LINE : '';
        let isInterrupted = false;
        const offSignal = onFirstSignal('SIGINT', () => {
          isInterrupted = true;
        });
        function onProgress(pets: number, step: string): void {
          if (isInterrupted) throw new CommandFailed(MESSAGES.interrupted, 130);
          if (stderr.isTTY) stderr.write(eraseLine + MESSAGES.copyProgress(pets, step));
        }
        const copying = copy(source, target, onProgress).finally(() => {
          offSignal();
          stderr.write(eraseLine);
        });
        await print(stdout, await copying);
      }),
    );
}

async function copy(source: CopySource, target: CopyTarget, onProgress: (pets: number, step: string) => void) {
  const compare = (step: string, restore?: (pets: readonly StoredPet[]) => Promise<void>) =>
    comparePets(source, target, (pets) => onProgress(pets, step), restore);

  const keys = byId(await source.listKeys());
  const [first] = await target.archive.read(0n, 1);
  // Rejects a target with pets of its own before anything is written.
  if (first !== undefined) await compare('compared');
  const onlyInTarget = (await target.keys.list()).find(({ id }) => !keys.has(id));
  if (onlyInTarget !== undefined) throw new CommandFailed(MESSAGES.keyOfTarget(onlyInTarget));

  const copied = await compare('copied', (pets) => target.archive.restore(pets));
  await copyKeys([...keys.values()], target.keys);

  const checked = await compare('checked');
  const [keysOfSource, keysOfTarget] = [byId(await source.listKeys()), byId(await target.keys.list())];
  if (checked.lacking > 0 || !isDeepStrictEqual(keysOfSource, keysOfTarget)) throw new CommandFailed(MESSAGES.changed);
  return { copied: copied.lacking, alreadyCopied: copied.pets - copied.lacking, apiKeys: keys.size };
}

/**
 * Reads the pets of both in order of id.
 *
 * @param restore Stores the pets that the target lacks. It is called while the next ones are read.
 * @returns How many pets the source has, and how many of them the target lacked.
 * @throws CommandFailed if the target has a pet that the source does not have.
 */
async function comparePets(
  source: CopySource,
  target: CopyTarget,
  onBatch: (pets: number) => void,
  restore: (pets: readonly StoredPet[]) => Promise<void> = async () => {},
) {
  const counts = { pets: 0, lacking: 0 };
  let restoring = Promise.resolve();
  for (let after: bigint | null = 0n; after !== null; ) {
    onBatch(counts.pets);
    const [pets, stored] = await readBoth(source, target, after);
    after = pets.at(-1)?.id ?? null;
    const lacking = new Map(pets.map((pet) => [pet.id, pet]));
    for (const pet of stored) {
      // Those that follow are compared with the next pets.
      if (after !== null && pet.id > after) break;
      if (!isDeepStrictEqual(lacking.get(pet.id), pet)) throw new CommandFailed(MESSAGES.petOfTarget(pet.id));
      lacking.delete(pet.id);
    }
    counts.pets += pets.length;
    counts.lacking += lacking.size;
    await restoring;
    if (lacking.size > 0) restoring = restore([...lacking.values()]);
    // The next `await restoring` throws it.
    restoring.catch(() => {});
  }
  await restoring;
  // A target that has all pets of an interrupted copy must still confirm them.
  await restore([]);
  return counts;
}

function readBoth(source: CopySource, target: CopyTarget, after: bigint) {
  return Promise.all([source.read(after, BATCH), target.archive.read(after, BATCH)]);
}

/** Adds keys, with their revocations and last uses. */
async function copyKeys(keys: readonly ApiKey[], store: KeyStore): Promise<void> {
  for (let done = 0; done < keys.length; done += BATCH) {
    await Promise.all(
      keys.slice(done, done + BATCH).map(async (key) => {
        await store.add(key);
        // An earlier copy may have added it.
        if (key.revokedAt !== null) await store.revoke(key.id, key.revokedAt);
        if (key.lastUsedAt !== null) await store.recordUse(key.id, key.lastUsedAt);
      }),
    );
  }
}

function byId(keys: readonly ApiKey[]): ReadonlyMap<string, ApiKey> {
  return new Map(keys.map((key) => [key.id, key]));
}
