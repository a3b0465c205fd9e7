/** The messages to a client and its model, besides descriptions of single arguments and the errors of the domain. */
export const MESSAGES = {
  /** @param storage Where the animals are stored. */
  instructions: (storage: string) =>
    'The catalogue of animals of a store. Ids and categories are 64-bit integers, written as strings of decimal digits. ' +
    'list_pets returns a page: call it again with its "next" as "after" until a page has none. ' +
    'To be able to repeat create_pet after an unknown result, pass an idempotencyKey of your own for each animal. ' +
    `Storage: ${storage}.`,
  notJson: 'the message is not JSON in UTF-8 of at most 10 MiB',
  noMessage: 'the message is no request, notification or response of JSON-RPC 2.0',
  unexpected: 'unexpected error in the service; it has been logged',

  /** For the operator. */
  unanswered: (id: unknown) => `request ${JSON.stringify(id)} got no response before the end`,
} as const;
