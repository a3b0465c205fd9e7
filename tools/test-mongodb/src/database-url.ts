const PARTS = /^(mongodb(?:\+srv)?:\/\/([^/?]+))(?:\/([^?]*))?(?:\?(.*))?$/;

/** The name of the database that a URL leads to; empty where it names none. */
export function databaseOf(url: string): string {
  return PARTS.exec(url)?.[3] ?? '';
}

/** The same URL with another database. Who logs in goes on doing so where the first URL said. */
export function withDatabase(url: string, name: string): string {
  const [, server, authority = '', database = '', query] = PARTS.exec(url) ?? [];
  const options = new URLSearchParams(query);
  if (authority.includes('@') && database !== '' && !options.has('authSource')) options.set('authSource', database);
  return `${server}/${name}${options.size > 0 ? `?${options}` : ''}`;
}

/** The same database by way of another address, which stands for the server's: one host and port. */
export function withAddress(url: string, address: string): string {
  const [, server = '', authority = ''] = PARTS.exec(url) ?? [];
  const userInfo = authority.slice(0, authority.lastIndexOf('@') + 1);
  return `mongodb://${userInfo}${address}${url.slice(server.length)}`;
}

/** `host:port` of the first server that a URL names. */
export function addressOf(url: string): string {
  const [, , authority = ''] = PARTS.exec(url) ?? [];
  return authority.slice(authority.lastIndexOf('@') + 1).split(',')[0] ?? '';
}
