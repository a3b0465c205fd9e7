/** A cache of a bounded size. */
export interface Cache<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

/**
 * Makes a cache of two generations. Entries in use are in the recent one. When it is full, it replaces the older one. A
 * WeakMap would keep all entries, and make garbage collections longer with each.
 *
 * @param sizeMax The size of each generation, in the unit of `sizeOf`.
 */
export function createCache<K, V>(sizeMax: number, sizeOf: (key: K, value: V) => number): Cache<K, V> {
  let recent = new Map<K, V>();
  let older = new Map<K, V>();
  let size = 0;

  function set(key: K, value: V): void {
    const added = sizeOf(key, value);
    if (size + added > sizeMax) {
      older = recent;
      recent = new Map();
      size = 0;
    }
    recent.set(key, value);
    size += added;
  }

  return {
    get(key) {
      const value = recent.get(key);
      if (value !== undefined) return value;
      const old = older.get(key);
      if (old !== undefined) set(key, old);
      return old;
    },
    set,
  };
}
