/** The name of the database in a URL of one host or more. */
const NAME = /(?<=^mongodb:\/\/[^/]+\/)[^?]*/;

export const databaseOf = (url: string): string => NAME.exec(url)?.[0] ?? '';

/** The same URL with another database. */
export const withDatabase = (url: string, name: string): string => url.replace(NAME, name);
