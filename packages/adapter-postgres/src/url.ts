import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import pg from 'pg';

/** A server as its URL describes it. */
export interface ServerUrl {
  /** For the driver. */
  readonly config: pg.ClientConfig;
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

const ACCEPTED = [
  ...['host', 'port', 'user', 'password', 'options', 'application_name'],
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
];

/** Options that change the texts of the server or its protocol. */
const REJECTED = ['binary', 'client_encoding', 'encoding', 'replication'];

const OWN_HOST = /^(?:\/.*|localhost|127\..*|::1)$/;

/** What a caller has instead of the URL. */
type Own = Pick<pg.ClientConfig, 'ssl' | 'password'>;

/** Parses a URL, which `own` overrides, without connecting. Throws StorageMisconfigured, which names the wrong part. */
export function parseUrl(url: string, own: Own = {}): ServerUrl {
  const { config, query } = partsOf(url, own);
  const client = clientOf(config);
  const location = client.host.startsWith('/') ? client.host : `${client.host}:${client.port}`;
  const warnings: string[] = [];
  if (!Object.keys(query).every((name) => ACCEPTED.includes(name))) {
    // A name may be a part of a password.
    warnings.push(`the URL has an option without effect: ${ACCEPTED.join(', ')} have one`);
  }
  if (!client.ssl && !OWN_HOST.test(client.host)) {
    warnings.push(`the connection to ${client.host} is not encrypted: add sslmode=verify-full to the URL`);
  }
  if ((client.ssl as { rejectUnauthorized?: boolean }).rejectUnauthorized === false) {
    warnings.push("the server's certificate is not verified: use sslmode=verify-full");
  }
  return { config, location, warnings };
}

/** A client with what the driver adds: libpq's variables of the environment. */
function clientOf(config: pg.ClientConfig) {
  try {
    const client = new pg.Client(config) as Pick<pg.Client, 'host' | 'port'> & { ssl: object | boolean };
    if (client.host.includes(',')) throw new Error('PGHOST must name one host');
    if (!(client.port >= 1 && client.port < 65_536)) throw new Error('PGPORT must be from 1 to 65535');
    return client;
  } catch (error) {
    throw new StorageMisconfigured((error as Error).message);
  }
}

/** The configuration for the driver, and the options of the URL. */
function partsOf(url: string, own: Own) {
  if (!/^postgres(?:ql)?:\/\//.test(url)) throw wrong('URL must begin with postgres://');
  const parts = FORM.exec(url);
  if (parts === null) throw wrong(FORM_IN_WORDS);
  const [, ownUser, ownPassword, ownHost = '', ownPort = '', database] = parts.map(decoded);
  // In libpq, too, + is no space.
  const options = new URLSearchParams(parts[6]?.replaceAll('+', '%2B'));
  const query = Object.fromEntries(options);
  if (Object.keys(query).length < options.size) throw wrong('URL must have each option once');
  for (const name of REJECTED) if (name in query) throw wrong(`URL must not have the option ${name}`);
  const { host = ownHost.replace(/^\[|\]$/g, ''), port = ownPort, application_name } = query;
  if (`${host}${port}`.includes(',')) throw wrong('URL must name one host');
  if (port !== '' && !(/^[1-9]\d*$/.test(port) && Number(port) < 65_536)) {
    throw wrong('the port in URL must be from 1 to 65535');
  }
  const { user = ownUser, password = ownPassword } = query;
  const login = { user, password: own.password ?? password, ssl: own.ssl ?? tlsOf(query) };
  const config = {
    host,
    port: Number(port),
    database,
    options: query['options'],
    application_name,
    ...login,
  } as pg.ClientConfig;
  return { config, query };
}

function decoded(part: string | undefined): string | undefined {
  // No part has it, and it ends texts in the protocol of the server.
  if (part?.includes('%00')) throw wrong('URL must not have %00');
  try {
    return part && decodeURIComponent(part);
  } catch {
    throw wrong('URL has a % that begins no escape: write it as %25');
  }
}

/** The options of TLS; false: it is not used. */
function tlsOf(query: Readonly<Record<string, string>>): object | false {
  const { ssl, sslmode = ssl, sslrootcert, sslcert, sslkey } = query;
  const files = [sslrootcert, sslcert, sslkey].filter((file) => file !== undefined);
  if (sslmode === undefined && files.length === 0) return optionsOfEnvironment();
  const options = optionsOf(sslmode);
  if (ssl !== undefined && (optionsOf(ssl) === false) !== (options === false)) {
    throw wrong('ssl and sslmode in URL contradict each other');
  }
  if (options === false) {
    if (files.length > 0) throw wrong('sslmode in URL must not be disable beside sslrootcert, sslcert or sslkey');
    return false;
  }
  const [ca, cert, key] = [readPem('sslrootcert', sslrootcert), readPem('sslcert', sslcert), readPem('sslkey', sslkey)];
  const isPair = cert && key ? new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) : cert === key;
  if (!isPair) throw wrong('sslcert and sslkey in URL must name a certificate and its key');
  return { ...options, ca, cert, key };
}

/** As the driver reads it: `allow` uses no TLS, which libpq tries first, too. */
function optionsOfEnvironment(): object | false {
  const { PGSSLMODE = '' } = process.env;
  return ['', 'allow'].includes(PGSSLMODE) ? false : optionsOf(PGSSLMODE, 'PGSSLMODE');
}

/** What verifies does it as `verify-full`: the certificate and the name of the server. */
function optionsOf(sslmode = 'verify-full', name = 'sslmode in URL'): object | false {
  if (['disable', 'false', '0'].includes(sslmode)) return false;
  if (sslmode === 'no-verify') return { rejectUnauthorized: false };
  if (['allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'true', '1'].includes(sslmode)) return {};
  throw wrong(`${name} must be disable, no-verify, allow, prefer, require, verify-ca or verify-full`);
}

function readPem(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8');
    if (name === 'sslkey') createPrivateKey(text);
    else new X509Certificate(text);
    return text;
  } catch (error) {
    const [, reason = 'it is no PEM file'] = getSystemErrorMap().get((error as NodeJS.ErrnoException).errno ?? 0) ?? [];
    throw wrong(`the file of ${name} in URL cannot be read: ${reason}`);
  }
}
