import { quote } from '@animal-store/domain/transport';

/** The messages to a client and its model, besides descriptions of single arguments and the errors of the domain. */
export const MESSAGES = {
  instructions:
    'The catalogue of animals of a store. Ids and categories are 64-bit integers, written as strings of decimal digits. ' +
    'list_pets returns a page: call it again with its "next" as "after" until a page has none. ' +
    'To be able to repeat create_pet after an unknown result, pass an idempotencyKey of your own for each animal.',
  /** @param storage Where the animals are stored. */
  storage: (storage: string) => `Storage: ${storage}.`,
  notJson: 'the message is not JSON in UTF-8',
  tooDeep: (levels: number) => `the message must have at most ${levels} levels`,
  batch: 'the body must be one message: MCP has no batches since its revision 2025-06-18',
  unknownArgument: (tool: string, name: string, names: readonly string[]) =>
    `${tool} has no argument ${quote(name)}, only ${names.join(', ')}`,
  notDigits: (argument: string, value: unknown) =>
    `${argument} must be a string of decimal digits, was ${quote(value)}`,
  unexpected: 'unexpected error in the service; it has been logged',
} as const;
