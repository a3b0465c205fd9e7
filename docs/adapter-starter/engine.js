import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

/** How many items a page has at most. */
const MAX_PAGE = 50;

/** What a request can ask for. Each changes one item: there are no transactions. */
const OPERATIONS = {
  get: ({ items }, { key }) => items.get(key) ?? null,

  /** Stores an item if its key has none, and returns that of the key. */
  put({ items, keys }, { key, item }) {
    const isNew = !items.has(key);
    if (isNew) keys.splice(keys.findLastIndex((other) => other < key) + 1, 0, key);
    if (isNew) items.set(key, item);
    return { item: items.get(key), isNew };
  },

  /** Changes one member of an item, perhaps only if it has a certain value. */
  update({ items }, { key, member, from, to }) {
    const item = items.get(key) ?? null;
    if (item !== null && (from === undefined || item[member] === from)) item[member] = to;
    return item;
  },

  /** Adds to a counter, or raises it. */
  count({ counters }, { key, by = 0, atLeast = 0 }) {
    counters.set(key, Math.max((counters.get(key) ?? 0) + by, atLeast));
    return counters.get(key);
  },

  /** A page of the items between two keys. */
  range({ items, keys }, { after, before, status, limit }) {
    const page = { items: [], next: null };
    for (let index = keys.findIndex((key) => key > after); index >= 0 && keys[index] < before; index += 1) {
      const item = items.get(keys[index]);
      if (status === undefined || item.status === status) page.items.push(item);
      if (page.items.length === Math.min(limit, MAX_PAGE)) return { ...page, next: keys[index] };
    }
    return page;
  },
};

const newPlace = () => ({ id: crypto.randomUUID(), items: new Map(), keys: [], counters: new Map() });

/** Stands for the engine of Acme: items by key, at places by path, behind a password. It forgets them when it ends. */
export async function startEngine(password, port = 0) {
  /** By path. Tests set a status with which a place responds, and a promise that it waits for. */
  const [places, statuses, gates] = [new Map(), new Map(), new Map()];

  async function respond({ method, url, headers }, body, received) {
    await gates.get(url);
    if (statuses.has(url)) return [statuses.get(url)];
    if (headers.authorization !== `Bearer ${password}`) return [401];
    if (method === 'PUT' && !places.has(url)) places.set(url, newPlace());
    const place = places.get(url);
    if (place === undefined) return [404];
    if (method !== 'POST') return [200, place.id];
    if (body.place !== place.id) return [412];
    if (performance.now() > received + body.timeout) return [503];
    return [200, body.operations.map(({ name, ...given }) => OPERATIONS[name](place, given))];
  }

  const server = createServer(async (request, response) => {
    const received = performance.now();
    // A client that gives up cuts its request.
    const body = request.method === 'POST' ? await json(request).catch(() => ({})) : {};
    const [status, result] = await respond(request, body, received);
    response.writeHead(status).end(JSON.stringify(result));
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://:${password}@127.0.0.1:${server.address().port}`;
  return { url, places, statuses, gates, newPlace, close: () => server.close() };
}

if (process.argv[1] === import.meta.filename) console.log((await startEngine('secret', 4000)).url);
