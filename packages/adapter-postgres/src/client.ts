import pg from 'pg';

/** Reads the types of the results of this adapter, whatever a program has set in `pg.types`. Others stay texts. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.BOOL]: (text) => text === 't',
  [pg.types.builtins.INT4]: Number,
  [pg.types.builtins.JSON]: JSON.parse,
};
export const types = { getTypeParser: (oid: number) => PARSERS[oid] ?? String } as pg.CustomTypesConfig;
