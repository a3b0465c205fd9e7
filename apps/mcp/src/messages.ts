/** The messages to a client and its model, besides descriptions of single arguments and the errors of the domain. */
export const MESSAGES = {
  /** @param storage Where the animals are stored. */
  instructions: (storage: string) =>
    'The catalogue of animals of a store. Ids and categories are 64-bit integers, written as strings of decimal digits. ' +
    'list_pets returns a page: call it again with its "next" as "after" until a page has none. ' +
    'To be able to repeat create_pet after an unknown result, pass an idempotencyKey of your own for each animal. ' +
    `Storage: ${storage}.`,
  inexact: (name: string, min: bigint, max: bigint) =>
    `${name} must be a string with an integer from ${min} to ${max}: a number of more than 15 digits may not be exact`,
  unexpected: 'unexpected error in the service; it has been logged',
  unknownArguments: (unknown: readonly string[], known: readonly string[]) =>
    `unknown ${unknown.length === 1 ? 'argument' : 'arguments'} ${unknown.map((name) => JSON.stringify(name)).join(', ')}: ` +
    `the arguments are ${known.join(', ')}`,
} as const;
