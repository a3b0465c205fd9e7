import { hash } from 'node:crypto';

// The vocabulary of the explorer:
//
// - A scenario builds a world around real modules, the same world each time.
// - A world is one run: clients, servers, failures and a clock, and the values that they share.
// - A step is one thing that can happen next in a world, with all code that it wakes.
// - A schedule is a list of steps by their names. It leads from the beginning to one state.
// - A state is a version for each part of a world. Equal versions are equal parts. The parts are
//   - the shared values;
//   - the processes: their memory can't be compared, so the history of a process stands for it, that is its steps and what
//     they have read;
//   - the commands that have no reply yet, with the outcomes of those that servers have run.

/** A digest of each part, by the name of the part. */
export type State = ReadonlyMap<string, string>;

export interface Step {
  readonly name: string;
  /** The process whose code it runs; null: it changes shared values only. */
  readonly process: string | null;
  /** The command that a server runs or replies to; null: none. */
  readonly command: string | null;
  /** Whether a run may end without it. */
  readonly may: boolean;
  run(): void;
}

/** What a step has done: the same as whenever its process, its command and the values that it read had these versions. */
export interface Effect {
  readonly read: State;
  /** The new versions of parts; null: the part is gone. */
  readonly written: ReadonlyMap<string, string | null>;
}

/** The state after a step. */
export function stateAfter(state: State, { written }: Effect): State {
  const next = new Map(state);
  for (const [part, version] of written) {
    if (version === null) next.delete(part);
    else next.set(part, version);
  }
  return next;
}

/** The same text for equal states only. */
export const keyOf = (state: State): string => digest(Array.from(state, ([part, version]) => part + version).sort());

/** A short text: the same for equal values, another one for others. */
export function digest(...values: readonly unknown[]): string {
  const plain = (_: string, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`;
    if (part instanceof Error) return String(part);
    return part instanceof Map ? [...part] : part;
  };
  return hash('sha1', JSON.stringify(values, plain), 'base64');
}
