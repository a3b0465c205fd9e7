import { digest, type Effect, type State, type Step, stateAfter } from './state.ts';

const valuePart = (name: string): string => `value ${name}`;
const processPart = (name: string): string => `process ${name}`;
const commandPart = (id: string): string => `command ${id}`;

/** What a step depends on in a state, besides the shared values that it reads. */
export function causeOf(state: State, { name, process, command }: Step): string {
  const ofProcess = process === null ? '' : state.get(processPart(process));
  const ofCommand = command === null ? '' : state.get(commandPart(command));
  return [name, ofProcess, ofCommand].join('|');
}

/** The parts of a world: its shared values, and the versions of all parts, which each step replaces. */
export class Parts {
  state: State = new Map();
  readonly #values = new Map<string, unknown>();
  /** The shared values that the present step has read, unless it had written them, and written. */
  readonly #read = new Set<string>();
  readonly #written = new Set<string>();

  /** An object whose properties are shared values. */
  share<Values extends object>(initial: Values): Values {
    const object = {};
    for (const name of Object.keys(initial)) {
      const part = valuePart(name);
      Object.defineProperty(object, name, {
        get: () => {
          if (!this.#written.has(part)) this.#read.add(part);
          return this.#values.get(part);
        },
        set: (value: unknown) => {
          this.#written.add(part);
          this.#values.set(part, deepFrozen(value));
        },
      });
    }
    return Object.assign(Object.seal(object), initial);
  }

  beginStep(): void {
    this.#read.clear();
    this.#written.clear();
  }

  /**
   * Returns the effect of the step that has begun.
   *
   * @param commands Those that have no reply yet, by their ids.
   */
  endStep(step: Step, commands: ReadonlyMap<string, { readonly outcome: unknown }>): Effect {
    const version = (part: string) => this.state.get(part) ?? '';
    const read = new Map(Array.from(this.#read, (part) => [part, version(part)]));
    // Code that has the same history does the same. So its history stands for its memory and for the commands that it sends.
    const history = digest(causeOf(this.state, step), [...read]);
    const written = new Map<string, string | null>();
    for (const part of this.#written) written.set(part, digest(this.#values.get(part)));
    if (step.process !== null) written.set(processPart(step.process), history);
    for (const part of Array.from(commands.keys(), commandPart)) if (!this.state.has(part)) written.set(part, history);
    if (step.command !== null) {
      const part = commandPart(step.command);
      const pending = commands.get(step.command);
      written.set(part, pending === undefined ? null : digest(version(part), pending.outcome));
    }
    const effect = { read, written };
    this.state = stateAfter(this.state, effect);
    return effect;
  }
}

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.values(value).forEach(deepFrozen);
    Object.freeze(value);
  }
  return value;
}
