/** The messages of this transport. */
export const MESSAGES = {
  notJson: 'the message is not JSON in UTF-8 of at most 10 MiB',
  noMessage: 'the message is no request, notification or response of JSON-RPC 2.0',

  /** For the operator. */
  unanswered: (id: unknown) => `request ${JSON.stringify(id)} got no response before the end`,
} as const;
