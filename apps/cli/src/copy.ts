import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
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
        const interruption = new AbortController();
        const interrupt = () => interruption.abort(new CommandFailed(MESSAGES.interrupted, 130));
        // A second Ctrl-C ends the process at once.
        process.once('SIGINT', interrupt);
        function onProgress(pets: number, step: string): void {
          interruption.signal.throwIfAborted();
          if (stderr.isTTY) stderr.write(eraseLine + MESSAGES.copyProgress(pets, step));
        }
        const copying = copy(source, target, onProgress).finally(() => {
          process.off('SIGINT', interrupt);
          stderr.write(eraseLine);
        });
        await print(stdout, await copying);
      }),
    );
}

type OnProgress = (pets: number, step: string) => void;

async function copy(source: CopySource, target: CopyTarget, onProgress: OnProgress) {
  const { archive } = target;
  const keys = await source.listKeys();
  const [first] = await archive.read(0n, 1);
  if (first !== undefined) await comparePets(source, target, (pets) => onProgress(pets, 'compared'));
  const onlyInTarget = (await target.keys.list()).find(({ id }) => !keys.some((key) => key.id === id));
  if (onlyInTarget !== undefined) throw new CommandFailed(MESSAGES.keyOfTarget(onlyInTarget));

  const copied = await comparePets(
    source,
    target,
    (pets) => onProgress(pets, 'copied'),
    (pets) => archive.restore(pets),
  );
  await copyKeys(keys, target.keys);

  const checked = await comparePets(source, target, (pets) => onProgress(pets, 'checked'));
  const isSame = copied.digest === checked.digest && isDeepStrictEqual(await source.listKeys(), keys);
  if (!isSame) throw new CommandFailed(MESSAGES.changed('source'));
  if (checked.lacking > 0 || !isDeepStrictEqual(byId(await target.keys.list()), byId(keys))) {
    throw new CommandFailed(MESSAGES.changed('target'));
  }
  return { copied: copied.lacking, alreadyCopied: copied.pets - copied.lacking, apiKeys: keys.length };
}

/**
 * Reads the pets of both in order of id.
 *
 * @param restore Stores the pets that the target lacks. It is called while the next ones are read.
 * @returns How many pets the source has, how many of them the target lacked, and a digest of the source.
 * @throws CommandFailed if the target has a pet that the source does not have.
 */
async function comparePets(
  source: CopySource,
  target: CopyTarget,
  onBatch: (pets: number) => void,
  restore: (pets: readonly StoredPet[]) => Promise<void> = async () => {},
) {
  const hash = createHash('sha256');
  const counts = { pets: 0, lacking: 0 };
  let restoring = Promise.resolve();
  for (let after: bigint | null = 0n; after !== null; ) {
    onBatch(counts.pets);
    const [pets, stored] = await readBoth(source, target, after);
    after = pets.at(-1)?.id ?? null;
    const texts = new Map(pets.map((pet) => [pet.id, textOf(pet)]));
    for (const text of texts.values()) hash.update(text);
    for (const pet of stored) {
      // Those that follow are compared with the next pets.
      if (after !== null && pet.id > after) break;
      if (texts.get(pet.id) !== textOf(pet)) throw new CommandFailed(MESSAGES.petOfTarget(pet.id));
      texts.delete(pet.id);
    }
    counts.pets += pets.length;
    counts.lacking += texts.size;
    await restoring;
    if (texts.size > 0) restoring = restore(pets.filter(({ id }) => texts.has(id)));
    restoring.catch(() => {});
  }
  await restoring;
  return { ...counts, digest: hash.digest('hex') };
}

function readBoth(source: CopySource, target: CopyTarget, after: bigint) {
  return Promise.all([source.read(after, BATCH), target.archive.read(after, BATCH)]);
}

function textOf({ id, name, categoryId, status, createdAt, idempotency }: StoredPet): string {
  const { holder, key, fingerprint } = idempotency ?? {};
  return JSON.stringify([String(id), name, String(categoryId), status, createdAt, holder, key, fingerprint]);
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

function byId(keys: readonly ApiKey[]): readonly ApiKey[] {
  return keys.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
