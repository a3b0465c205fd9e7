import { getSystemErrorMap } from 'node:util';
import { StorageMisconfigured } from '@animal-store/domain/ports';
import pg from 'pg';

// The driver would read a part of a password as the host if the password had an unencoded /, ?, # or @.
const FORM = /^postgres(?:ql)?:\/\/(?:[^/?#@]*@)?[^/?#@,]*\/[^?#@]+(?:\?[^@]*)?$/;
const FORM_IN_WORDS =
  'the PostgreSQL URL must be postgres://[user:password@]host[:port]/database[?options], with one host, and the special ' +
  'characters of user, password and options percent-encoded';

/** The driver warns of these, because its next version will verify less. */
const VERIFIED = /([?&]sslmode=)(?:allow|prefer|require|verify-ca)(?=&|$)/g;

/** A server as its URL describes it. */
export interface Server {
  /** The URL for the driver. */
  readonly url: string;
  /** `host:port`, or the path of a socket. */
  readonly location: string;
  /** Insecure options, one sentence each. */
  readonly warnings: readonly string[];
}

/** Parses a URL without connecting to anything. Throws StorageMisconfigured, whose message never quotes the URL. */
export function parseUrl(given: string): Server {
  if (!FORM.test(given)) throw new StorageMisconfigured(FORM_IN_WORDS);
  // Verified in every version of the driver: the certificate and the name of the server.
  const url = given.replace(VERIFIED, '$1verify-full');
  const { host, port, ssl } = parsed(url);
  // The driver reads `sslmode=no-verify` and `ssl=no-verify`.
  const isUnverified = (ssl as unknown as { rejectUnauthorized?: boolean }).rejectUnauthorized === false;
  return {
    url,
    location: host.startsWith('/') ? host : `${host}:${port}`,
    warnings: isUnverified ? ["sslmode=no-verify: the server's certificate is not verified, use verify-full"] : [],
  };
}

function parsed(url: string): pg.Client {
  try {
    return new pg.Client({ connectionString: url });
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    // The driver's messages may quote the URL.
    if (errno === undefined) throw new StorageMisconfigured(FORM_IN_WORDS);
    const [, reason] = getSystemErrorMap().get(errno) ?? [];
    throw new StorageMisconfigured(
      `a file that the URL names (sslrootcert, sslcert, sslkey) cannot be read: ${reason}`,
    );
  }
}
