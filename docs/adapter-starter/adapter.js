import { createStorage } from '@animal-store/adapter-kit';
import { apiKeyId, StorageMisconfigured } from '@animal-store/domain/ports';
import { connect } from './connection.js';

/** Keys of items, in the order of ids: 2^63 - 1 has 19 digits. */
const petKey = (id) => `pet/${String(id).padStart(19, '0')}`;
const apiKeyKey = (id) => `key/${id}`;
/** As JSON, because a holder may contain any separator. */
const claimKey = ({ holder, key }) => `claim/${JSON.stringify([holder, key])}`;

/** JSON has no integers of 64 bits. */
const toItem = ({ categoryId, ...others }) => ({ ...others, categoryId: String(categoryId) });
const toStored = ({ id, categoryId, ...others }) => ({ id: BigInt(id), ...others, categoryId: BigInt(categoryId) });

function toPet(item) {
  const { idempotency: _, createdAt: __, ...pet } = toStored(item);
  return pet;
}

const send = (call, name, operation) => call.connection.send({ name, ...operation }, call);

/** Reads pages until it has enough: the engine may return fewer items than the limit. */
async function range(call, { after, limit, ...others }) {
  const page = await send(call, 'range', { ...others, after, limit });
  const left = limit - page.items.length;
  if (page.next === null || left === 0) return page.items;
  return [...page.items, ...(await range(call, { ...others, after: page.next, limit: left }))];
}

const rangeOfPets = (call, { after, ...others }) => range(call, { ...others, after: petKey(after), before: 'pet/~' });

async function nextId(call, by = 1) {
  const id = await send(call, 'count', { key: 'ids', by });
  if (!Number.isSafeInteger(id)) throw new RangeError('no id is left');
  return String(id);
}

/** Stores what an idempotency key stands for, unless it stands for something. Returns what it stands for. */
async function claim(call, idempotency, id) {
  const item = { id, fingerprint: idempotency.fingerprint };
  return (await send(call, 'put', { key: claimKey(idempotency), item })).item;
}

const pets = {
  /** The item of the idempotency key comes first. A repetition that finds it without its pet stores the pet. */
  async add(call, newPet, idempotency) {
    const members = { ...toItem(newPet), ...(idempotency && { idempotency }), createdAt: Date.now() };
    for (let next = await nextId(call), skipped = 2; ; skipped *= 2) {
      const { id, fingerprint } = idempotency ? await claim(call, idempotency, next) : { id: next };
      if (fingerprint !== idempotency?.fingerprint) return null;
      const { item, isNew } = await send(call, 'put', { key: petKey(id), item: { id, ...members } });
      const isRepeated = idempotency && item.idempotency && claimKey(item.idempotency) === claimKey(idempotency);
      if (isNew || isRepeated) return { pet: toPet(item), created: isNew };
      // The counter is behind, as after a restored backup: another pet has this id, and perhaps each of thousands.
      next = await nextId(call, skipped);
      if (idempotency) await send(call, 'update', { key: claimKey(idempotency), member: 'id', from: id, to: next });
    }
  },

  async find(call, id) {
    const item = await send(call, 'get', { key: petKey(id) });
    return item && toPet(item);
  },

  list: async (call, { status, after, limit }) => (await rangeOfPets(call, { status, after, limit })).map(toPet),
};

const keys = {
  async add(call, key) {
    await send(call, 'put', { key: apiKeyKey(key.id), item: key });
  },

  async find(call, digest) {
    const record = await send(call, 'get', { key: apiKeyKey(apiKeyId(digest)) });
    return record?.digest === digest ? record : null;
  },

  list: (call, { after, limit }) => range(call, { after: apiKeyKey(after), before: 'key/~', limit }),

  // Each changes one member: the other may change at the same time.
  revoke: (call, id, at) => send(call, 'update', { key: apiKeyKey(id), member: 'revokedAt', from: null, to: at }),

  async recordUse(call, id, at) {
    await send(call, 'update', { key: apiKeyKey(id), member: 'lastUsedAt', to: at });
  },
};

const archive = {
  read: async (call, after, limit) => (await rangeOfPets(call, { after, limit })).map(toStored),

  async restore(call, pets) {
    await archive.skipIds(call, pets.at(-1)?.id ?? 0n);
    const restoreOne = async (pet) => {
      const [key, id] = [petKey(pet.id), String(pet.id)];
      // A pet whose id is taken leaves no item of its idempotency key.
      if ((await send(call, 'get', { key })) !== null) return;
      if (pet.idempotency && (await claim(call, pet.idempotency, id)).id !== id) return;
      await send(call, 'put', { key, item: { ...toItem(pet), id } });
    };
    await Promise.all(pets.map(restoreOne));
  },

  async lastId(call) {
    return BigInt(Math.min(await send(call, 'count', { key: 'ids' }), Number.MAX_SAFE_INTEGER));
  },

  async skipIds(call, lastId) {
    await send(call, 'count', { key: 'ids', atLeast: Number(lastId) });
  },
};

/** Exported for tests: another process opens a storage by its name. */
export async function openShelf(shelf, { create = true } = {}) {
  const url = URL.parse(shelf);
  if (!/^https?:$/.test(url?.protocol)) throw new StorageMisconfigured('it must begin with http:// or https://');
  const password = decodeURIComponent(url.password);
  url.password = '';
  return createStorage({
    open: (limits) => connect({ url, password }, create ? 'PUT' : 'GET', limits),
    close: (connection) => connection.close(),
    // A request that fails loses its own connection only.
    isLost: () => false,
    // Failures of requests are unavailable already.
    toPortError: (failure) => failure,
    ...{ pets, keys, archive },
    // It writes, and changes nothing.
    ready: (call) => archive.skipIds(call, 0n),
    location: url.host,
    warnings: url.protocol === 'http:' ? ['the password is sent without TLS'] : [],
  });
}

/** @type {import('@animal-store/domain/ports').StorageAdapter} */
export const adapter = {
  portsVersion: 1,
  description: 'the shelves of Acme',
  variable: { name: 'ACME_SHELF', example: 'http://:secret@127.0.0.1:4000/zoo', secret: true },
  open: openShelf,
};
