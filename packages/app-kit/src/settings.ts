/** How a variable of the environment is read. */
export interface Variable<T> {
  /** Used if the variable is unset or empty. */
  readonly fallback: string;
  /** Completes "PORT must be …". */
  readonly rule: string;
  /** @returns null if the text breaks the rule. */
  readonly parse: (text: string) => T | null;
}

/** An integer in decimal digits. */
export function integer(fallback: number, min: number, max: number): Variable<number> {
  return {
    fallback: String(fallback),
    rule: `an integer from ${min} to ${max}`,
    parse: (text) => (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : null),
  };
}

/** One of a few words. */
export function oneOf<const T extends string>(fallback: NoInfer<T>, values: readonly T[]): Variable<T> {
  return {
    fallback,
    rule: `one of ${values.join(', ')}`,
    parse: (text) => values.find((value) => value === text) ?? null,
  };
}

/** A text that matches a pattern. */
export function matching(fallback: string, pattern: RegExp, rule: string): Variable<string> {
  return { fallback, rule, parse: (text) => (pattern.test(text) ? text : null) };
}

type Variables = Readonly<Record<string, Variable<unknown>>>;

/** The values of a table of variables, by name. */
export type Values<V extends Variables> = { readonly [K in keyof V]: V[K] extends Variable<infer T> ? T : never };

/**
 * Reads the variables of a table. A variable that is empty counts as unset.
 *
 * @param errors Takes a sentence for each variable that breaks its rule; its value is then that of the fallback.
 */
export function readVariables<V extends Variables>(
  environment: NodeJS.ProcessEnv,
  variables: V,
  errors: string[],
): Values<V> {
  const values = Object.entries(variables).map(([name, { fallback, rule, parse }]) => {
    const text = environment[name] || fallback;
    const value = parse(text);
    if (value === null) errors.push(`${name} must be ${rule}, was ${JSON.stringify(text)}`);
    return [name, value ?? parse(fallback)];
  });
  return Object.fromEntries(values) as Values<V>;
}
