import pg from 'pg';

/** The settings of the driver that a program shares with its packages, as the driver has them at first. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  ...{ host: 'localhost', port: 5432, user: process.env[process.platform === 'win32' ? 'USERNAME' : 'USER'] },
  ...{ database: undefined, password: null, connectionString: undefined, options: undefined },
  ...{ application_name: undefined, fallback_application_name: undefined, client_encoding: '', binary: false },
  ...{ ssl: false, sslnegotiation: undefined, statement_timeout: false, lock_timeout: false, query_timeout: false },
  idle_in_transaction_session_timeout: false,
};

/** Reads the types of the results of this adapter, whatever a program has set in `pg.types`. Others stay texts. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.BOOL]: (text) => text === 't',
  [pg.types.builtins.INT4]: Number,
  [pg.types.builtins.JSON]: JSON.parse,
};
export const types = { getTypeParser: (oid: number) => PARSERS[oid] ?? String } as pg.CustomTypesConfig;

/** A client of the driver that does not depend on what its program has set in `pg.defaults`. */
export class Client extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    const ofProgram = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, Reflect.get(pg.defaults, name)]));
    Object.assign(pg.defaults, DEFAULTS);
    try {
      super(config);
    } finally {
      Object.assign(pg.defaults, ofProgram);
    }
  }
}
