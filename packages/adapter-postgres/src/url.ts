import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import pg from 'pg';

/** A server as its URL describes it. */
export interface Server {
  /** For the driver. */
  readonly options: pg.ClientConfig;
  /** `host:port`, or the path of a socket. */
  readonly location: string;
  /** Insecure options, one sentence each. */
  readonly warnings: readonly string[];
}

/** No message quotes the URL. */
const wrong = (line: string) => new StorageMisconfigured(line.replace('URL', 'the PostgreSQL URL'));

// An unencoded /, ?, # or @ in a password would make a part of it the host.
const FORM =
  /^postgres(?:ql)?:\/\/(?:([^:/?#@]*)(?::([^/?#@]*))?@)?(\[[^\]/?#@]*\]|[^:/?#@]*)(?::([^/?#@]*))?\/([^?#@]+)(?:\?([^#@]*))?$/;
const FORM_IN_WORDS =
  'URL must be postgres://[user:password@]host[:port]/database[?options], and the special characters of each part ' +
  'percent-encoded';

/** Every mode that verifies does it as `verify-full`: the certificate and the name of the server. */
const TLS_MODES: Readonly<Record<string, object | false>> = {
  disable: false,
  'no-verify': { rejectUnauthorized: false },
  ...Object.fromEntries(['allow', 'prefer', 'require', 'verify-ca', 'verify-full'].map((mode) => [mode, {}])),
};
/** The option `ssl` of the driver. */
const SSL: Readonly<Record<string, string>> = { true: 'require', 1: 'require', false: 'disable', 0: 'disable' };
const TLS_FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' };

/** Options that change the texts of the server or their protocol. */
const REJECTED = ['binary', 'client_encoding', 'encoding', 'replication'];

const OWN_HOST = /^(?:\/.*|localhost|127\..*|::1)$/;

/** Parses a URL without connecting to anything. Throws StorageMisconfigured, which names the wrong part. */
export function parseUrl(given: string): Server {
  if (!/^postgres(?:ql)?:\/\//.test(given)) throw wrong('URL must begin with postgres://');
  const parts = FORM.exec(given);
  if (parts === null) throw wrong(FORM_IN_WORDS);
  try {
    decodeURIComponent(given);
  } catch {
    throw wrong('URL has a % that begins no escape: write it as %25');
  }
  const [user, password, hostname = '', ownPort, database] = parts
    .slice(1, 6)
    .map((part = '') => decodeURIComponent(part));
  const query = new URLSearchParams(parts[6]);
  for (const name of REJECTED) if (query.has(name)) throw wrong(`URL must not have the option ${name}`);
  const host = query.get('host') ?? hostname.replace(/^\[|\]$/g, '');
  if (`${host}${ownPort}`.includes(',')) throw wrong('URL must name one host');
  const port = (query.get('port') ?? ownPort) || undefined;
  if (port !== undefined && !(/^\d+$/.test(port) && Number(port) > 0 && Number(port) < 65_536)) {
    throw wrong('the port in URL must be from 1 to 65535');
  }
  const options = {
    user: query.get('user') ?? user,
    password: query.get('password') ?? password,
    host,
    port: port && Number(port),
    database,
    options: query.get('options') ?? undefined,
    application_name: query.get('application_name') ?? undefined,
    ssl: tlsOf(query),
  } as pg.ClientConfig;
  return { options, ...described(options) };
}

/** Undefined if the URL says nothing about TLS. */
function tlsOf(query: URLSearchParams): object | false | undefined {
  const given = query.get('sslmode') ?? query.get('ssl');
  const mode = given === null ? undefined : TLS_MODES[SSL[given] ?? given];
  if (given !== null && mode === undefined) {
    throw wrong(`sslmode in URL must be one of ${Object.keys(TLS_MODES).join(', ')}`);
  }
  const files = Object.entries(TLS_FILES).flatMap(([name, option]) => {
    const file = query.get(name);
    return file ? [[option, readPem(name, file)]] : [];
  });
  return mode === false || (mode ?? files[0]) === undefined ? mode : { ...mode, ...Object.fromEntries(files) };
}

function readPem(name: string, file: string): string {
  const isKey = name === 'sslkey';
  try {
    const text = readFileSync(file, 'utf8');
    if (isKey) createPrivateKey(text);
    else new X509Certificate(text);
    return text;
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    if (errno === undefined) throw wrong(`${name} in URL names no ${isKey ? 'unencrypted key' : 'certificate'} in PEM`);
    throw wrong(`the file of ${name} in URL cannot be read: ${getSystemErrorMap().get(errno)?.[1]}`);
  }
}

/** With what the driver adds, such as variables of the environment. */
function described(options: pg.ClientConfig): Omit<Server, 'options'> {
  const { host, port, ssl } = new pg.Client(options) as Pick<pg.Client, 'host' | 'port'> & { readonly ssl: unknown };
  const warnings: string[] = [];
  if (!ssl && !OWN_HOST.test(host)) {
    warnings.push(`the connection to ${host} is not encrypted: add sslmode=verify-full to the URL`);
  }
  if ((ssl as { rejectUnauthorized?: boolean }).rejectUnauthorized === false) {
    warnings.push("sslmode=no-verify: the server's certificate is not verified, use verify-full");
  }
  return { location: host.startsWith('/') ? host : `${host}:${port}`, warnings };
}
