/** Time limits of connections and requests, in milliseconds. */
export interface TimeLimits {
  /** The time for the header section of a request to arrive. */
  readonly headersTimeout: number;
  /** The time for a whole request to arrive. */
  readonly requestTimeout: number;
  /** The time for an idle connection to be used again. */
  readonly keepAliveTimeout: number;
  /** The time for a client to read more of its response, or to send more of its request. Longer than `requestTimeout`. */
  readonly inactivityTimeout: number;
  /** The time for a client to close its side of a connection after the last response. */
  readonly lingerTimeout: number;
  /** How often `headersTimeout` and `requestTimeout` are enforced. */
  readonly connectionsCheckingInterval: number;
}

/** The default limits. */
export const TIME_LIMITS: TimeLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Load balancers usually close idle connections after 60 s, and must be the first.
  keepAliveTimeout: 65_000,
  inactivityTimeout: 35_000,
  lingerTimeout: 2_000,
  connectionsCheckingInterval: 1_000,
};
