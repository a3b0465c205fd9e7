import { isDeepStrictEqual } from 'node:util';
import { type ApiKey, LIMITS } from '@animal-store/domain';
import { type ApiKeyRepository, allKeys, type PetArchive, type StoredPet } from '@animal-store/domain/ports';
import { type Command, Option } from 'commander';
import { CommandFailed, type Context } from './context.ts';
import { interruptible } from './interruptible.ts';
import { MESSAGES } from './messages.ts';
import { drawProgress, print } from './print.ts';
import { createProgress } from './progress.ts';
import { type MovableStorage, type TargetOptions, withTarget } from './storages.ts';

/** How many pets a call reads or stores. */
const BATCH = 1_000;

/** How many API keys are stored at once, each by writes of its own, all within the time limit of a call. */
const KEY_BATCH = 50;

export function addCopy(program: Command, context: Context): void {
  const { stdout, stderr, clock } = context;
  program
    .command('copy')
    .description(
      'Copies all pets and API keys to another storage. To continue after an interruption, repeat the command.',
    )
    .addOption(new Option('--to <setting>', 'the other storage, as its variable names it').conflicts('toFile'))
    .option('--to-file <name>', 'a file that holds this setting')
    .option('--to-storage <module>', 'the adapter, if it is from another repository')
    .action((options: TargetOptions) =>
      withTarget(context, options, async (source, target) => {
        const counts = await interruptible(({ signal }) =>
          copy(source, target, (step, total) => {
            const draw = createProgress(stderr, clock, total, MESSAGES.pets, MESSAGES.step(step));
            return (pets) => {
              signal.throwIfAborted();
              draw(pets);
            };
          }),
        ).finally(() => drawProgress(stderr));
        await print(stdout, counts);
      }),
    );
}

/**
 * Reads the pets of both storages three times: to compare them, because nothing is written to a target that has pets or API keys
 * of its own; to copy what it lacks; and to check that neither has changed meanwhile.
 *
 * @param beginStep Called before each of the three, with the number of pets, or null if it is not known. What it returns is
 * called before each batch, with the number of pets that were read; an error that it throws ends the copy.
 */
async function copy(
  source: MovableStorage,
  target: MovableStorage,
  beginStep: (step: string, total: number | null) => (pets: number) => void,
) {
  const archives = [source.archive, target.archive] as const;

  const isEmpty = (await target.archive.read(0n, 1)).length === 0;
  const compared = isEmpty ? null : await comparePets(...archives, beginStep('compared', null));
  const keys = await keysOf(source.keys);
  const stored = await keysOf(target.keys);
  const keyOfTarget = [...stored.values()].find(({ id }) => !keys.has(id));
  if (keyOfTarget !== undefined) throw new CommandFailed(MESSAGES.keyOfTarget(keyOfTarget));

  const copied = await copyPets(...archives, beginStep('copied', compared?.pets ?? null));
  // Keys that an earlier copy stored unconfirmed are confirmed with the writes before and after.
  const lacking = [...keys.values()].filter((key) => !isDeepStrictEqual(stored.get(key.id), key));
  await copyKeys(lacking, target.keys);
  // Ids above those of all pets: of pets that were deleted, or skipped by a restore.
  await target.archive.skipIds(await source.archive.lastId());

  const checked = await comparePets(...archives, beginStep('checked', copied.pets));
  const [keysOfSource, keysOfTarget] = [await keysOf(source.keys), await keysOf(target.keys)];
  if (checked.lacking > 0 || !isDeepStrictEqual(keysOfSource, keysOfTarget)) throw new CommandFailed(MESSAGES.changed);
  return { copied: copied.lacking, alreadyCopied: copied.pets - copied.lacking, apiKeys: keys.size };
}

/** How many pets the source has, and how many of them the target lacks. */
interface Counts {
  readonly pets: number;
  readonly lacking: number;
}

/** @throws CommandFailed if the target has a pet that the source does not have. */
async function comparePets(source: PetArchive, target: PetArchive, onBatch: (pets: number) => void): Promise<Counts> {
  const counts = { pets: 0, lacking: 0 };
  for await (const { pets, lacking } of batchesOf(source, target, onBatch)) {
    counts.pets += pets.length;
    counts.lacking += lacking.length;
  }
  return counts;
}

/**
 * Stores the pets that the target lacks, while the next ones are read. Also writes if it lacks none, because a target must
 * still confirm those that an interrupted copy has stored.
 *
 * @throws CommandFailed if the target has a pet that the source does not have.
 */
async function copyPets(source: PetArchive, target: PetArchive, onBatch: (pets: number) => void): Promise<Counts> {
  const counts = { pets: 0, lacking: 0 };
  let storing: Promise<void> = Promise.resolve();
  for await (const { pets, lacking } of batchesOf(source, target, onBatch)) {
    await storing;
    counts.pets += pets.length;
    counts.lacking += lacking.length;
    storing = target.restore(lacking);
    // It is awaited after the next batch was read, which may fail first.
    storing.catch(() => {});
  }
  await storing;
  return counts;
}

/**
 * Reads the pets of both in order of id. The last batch has none.
 *
 * @throws CommandFailed if the target has a pet that the source does not have.
 */
async function* batchesOf(
  source: PetArchive,
  target: PetArchive,
  onBatch: (pets: number) => void,
): AsyncGenerator<{ readonly pets: readonly StoredPet[]; readonly lacking: readonly StoredPet[] }> {
  let after = 0n;
  for (let read = 0; ; ) {
    onBatch(read);
    const [pets, stored] = await Promise.all([source.read(after, BATCH), target.read(after, BATCH)]);
    const last = pets.at(-1)?.id ?? LIMITS.id.max;
    if (pets.length > 0 && last <= after) throw new TypeError(`the pets behind ${after} end with ${last}`);
    after = last;
    const rest = new Map(pets.map((pet) => [pet.id, pet]));
    for (const pet of stored) {
      // It is compared with the next batch. After the last one, each stored pet is the target's own.
      if (pet.id > after) break;
      if (!isDeepStrictEqual(rest.get(pet.id), pet)) throw new CommandFailed(MESSAGES.petOfTarget(pet.id));
      rest.delete(pet.id);
    }
    read += pets.length;
    yield { pets, lacking: [...rest.values()] };
    if (pets.length === 0) return;
  }
}

/** Adds keys, with their revocations and last uses. */
async function copyKeys(keys: readonly ApiKey[], store: ApiKeyRepository): Promise<void> {
  for (let done = 0; done < keys.length; done += KEY_BATCH) {
    await Promise.all(
      keys.slice(done, done + KEY_BATCH).map(async (key) => {
        await store.add(key);
        // An earlier copy may have added it.
        if (key.revokedAt !== null) await store.revoke(key.id, key.revokedAt);
        if (key.lastUsedAt !== null) await store.recordUse(key.id, key.lastUsedAt);
      }),
    );
  }
}

async function keysOf(keys: ApiKeyRepository): Promise<ReadonlyMap<string, ApiKey>> {
  const byId = new Map<string, ApiKey>();
  for await (const key of allKeys(keys)) byId.set(key.id, key);
  return byId;
}
