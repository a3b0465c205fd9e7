/** The key that every server of a run accepts. */
export const KEY = 'the-key-of-the-benchmark';

/** An animal as the peers keep it. */
export interface Animal {
  id: number;
  name: string;
  categoryId: number;
  status?: string;
}
