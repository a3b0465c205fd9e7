import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createPostgresStorage, type PostgresStorageOptions } from './index.ts';
import { parseUrl } from './url.ts';

describe('parseUrl', () => {
  test.each([
    ['postgres://localhost/animals', 'localhost:5432'],
    ['postgresql://zoo:p%40ss@db1:5433/animals?sslmode=verify-full', 'db1:5433'],
    ['postgres:///animals?host=/run/postgresql', '/run/postgresql'],
    ['postgres://zoo:secret@/animals?host=/run/postgresql&port=5433', '/run/postgresql'],
    ['postgres://%2Frun%2Fpostgresql/animals', '/run/postgresql'],
    ['postgres://[::1]:5432/animals', '::1:5432'],
  ])('reads %s', (url, location) => {
    expect(parseUrl(url)).toMatchObject({ location, warnings: [], config: { database: 'animals' } });
  });

  test.each([
    ['postgres://zoo%2F:p%3A%25:%40 %20@db1/a', { user: 'zoo/', password: 'p:%:@  ', host: 'db1' }],
    ['postgres://db1/my%40db%2F%3F%23%20%25%26', { database: 'my@db/?# %&' }],
    ['postgres://db1/a?ssl=true&sslmode=no-verify', { ssl: { rejectUnauthorized: false } }],
    ['postgres://db1/a?user=zoo&password=p%40+', { user: 'zoo', password: 'p@+' }],
    ['postgres://z:s%2541@db1/a?options=-c search_path%3Dzoo', { password: 's%41', options: '-c search_path=zoo' }],
    ['postgres://db1/a?options=-c%20search_path%3Dzoo&application_name=x%26y', { application_name: 'x&y' }],
  ])('reads the parts of %s as they are meant', (url, config) => {
    expect(parseUrl(url).config).toMatchObject(config);
  });

  const folder = mkdtempSync(join(tmpdir(), 'animal-store-url-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const pem = join(folder, 'secret.pem');
  writeFileSync(pem, 'no secret');

  test.each([
    ['mysql://zoo:secret@db1/animals', /^the PostgreSQL URL must begin with postgres:\/\/$/],
    ['postgres://zoo:secret@db1', /^the PostgreSQL URL must be postgres:\/\/.* percent-encoded$/],
    ['postgres://zoo:secret@db1:65536/animals', /^the port in the PostgreSQL URL must be from 1 to 65535$/],
    ['postgres://zoo:secret@db1:0/animals', /^the port in the PostgreSQL URL must be /],
    ['postgres://zoo:secret@db1/animals?port=x', /^the port in the PostgreSQL URL must be /],
    ['postgres://zoo:secret@db1,db2/animals', /^the PostgreSQL URL must name one host$/],
    ['postgres://zoo:secret@/animals?host=db1,db2', /^the PostgreSQL URL must name one host$/],
    ['postgres://zoo:12#secret@db1/animals', /^the PostgreSQL URL must be postgres:/],
    ['postgres://zoo:12/34?secret@db1/animals', /^the PostgreSQL URL must be postgres:/],
    ['postgres://zoo:pa@secret/word@db1/animals', /^the PostgreSQL URL must be postgres:/],
    ['postgres://zoo:50%secret@db1/animals', /^the PostgreSQL URL has a % that begins no escape: write it as %25$/],
    ['postgres://zoo:secret@db1/animals?options=5%', /^the PostgreSQL URL has a % that begins no escape/],
    ['postgres://zoo:secret%FF@db1/animals', /^the PostgreSQL URL has a % that begins no escape/],
    ['postgres://zoo:secret@db1/animals?sslmode=secret', /^sslmode in the PostgreSQL URL must be disable, /],
    ['postgres://zoo:secret@db1/animals?sslmode=constructor', /^sslmode in the PostgreSQL URL must be disable, /],
    ['postgres://zoo:secret@db1/a%00', /^the PostgreSQL URL must not have %00$/],
    ['postgres://zoo:secret@db1/animals?user=secret%00', /^the PostgreSQL URL must not have %00$/],
    ['postgres://db1/animals?sslmode=require&sslmode=disable', /^the PostgreSQL URL must have each option once$/],
    ['postgres://db1/animals?user=secret&user=secret', /^the PostgreSQL URL must have each option once$/],
    [
      'postgres://db1/animals?sslmode=require&ssl=false',
      /^ssl and sslmode in the PostgreSQL URL contradict each other$/,
    ],
    [
      'postgres://db1/animals?sslmode=disable&ssl=true',
      /^ssl and sslmode in the PostgreSQL URL contradict each other$/,
    ],
    [
      'postgres://db1/animals?sslmode=disable&sslrootcert=/secret.pem',
      /^sslmode in the PostgreSQL URL must not be disable beside sslrootcert, sslcert or sslkey$/,
    ],
    [
      'postgres://zoo:secret@db1/animals?replication=database',
      /^the PostgreSQL URL must not have the option replication$/,
    ],
    ['postgres://zoo:secret@db1/animals?binary=true', /^the PostgreSQL URL must not have the option binary$/],
    [
      'postgres://zoo:secret@db1/animals?sslrootcert=/nowhere',
      /^the file of sslrootcert in the PostgreSQL URL cannot be read: no such file or directory$/,
    ],
    [`postgres://db1/animals?sslrootcert=${pem}`, /^the file of sslrootcert in .* cannot be read: it is no PEM file$/],
    [`postgres://db1/animals?sslkey=${pem}`, /^the file of sslkey in .* cannot be read: it is no PEM file$/],
  ])('rejects %s without quoting it', (url, line) => {
    expect(() => parseUrl(url)).toThrow(
      expect.objectContaining({ name: 'StorageMisconfigured', message: expect.stringMatching(line) }),
    );
    expect(() => parseUrl(url)).not.toThrow(/secret/);
  });

  test.each([
    ['PGPORT', 'tcp://10.0.0.1:5432', 'PGPORT must be from 1 to 65535'],
    ['PGPORT', '0', 'PGPORT must be from 1 to 65535'],
    ['PGPORT', '65536', 'PGPORT must be from 1 to 65535'],
    ['PGHOST', 'db1,db2', 'PGHOST must name one host'],
    ['PGSSLMODE', 'yes', 'PGSSLMODE must be disable, no-verify, allow, prefer, require, verify-ca or verify-full'],
    ['PGSSLNEGOTIATION', 'tcp', 'Invalid sslnegotiation value: "tcp". Valid values are "postgres" and "direct".'],
  ])('rejects %s = %s, which no server can make right, but not if the URL says it', (name, value, message) => {
    vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const rejected = expect.objectContaining({ name: 'StorageMisconfigured', message });
    expect(() => parseUrl('postgres:///animals')).toThrow(rejected);
    if (name !== 'PGSSLNEGOTIATION') parseUrl('postgres://db1:5432/animals?sslmode=require');
  });

  test.each([
    ['PGSSLMODE', 'require', { ssl: {} }],
    ['PGSSLMODE', 'no-verify', { ssl: { rejectUnauthorized: false } }],
    ['PGSSLMODE', '', { ssl: false }],
    ['PGSSLMODE', 'allow', { ssl: false }],
  ])('uses %s = %s if the URL says nothing about it', (name, value, config) => {
    vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(parseUrl('postgres://db1/animals').config).toMatchObject(config);
  });

  test('verifies as much with any sslmode that verifies something as with verify-full', () => {
    const verified = parseUrl('postgres://db1/animals?sslmode=verify-full');
    expect(verified.config.ssl).toEqual({});
    for (const mode of ['allow', 'prefer', 'require', 'verify-ca']) {
      expect(parseUrl(`postgres://db1/animals?sslmode=${mode}`), mode).toEqual(verified);
    }
  });

  test.each<[string, PostgresStorageOptions['pool'], RegExp | null]>([
    ['?sslmode=no-verify', {}, /^the server's certificate is not verified: use sslmode=verify-full$/],
    ['?ssl=no-verify', {}, /is not verified/],
    ['', {}, /^the connection to db1 is not encrypted: add sslmode=verify-full to the URL$/],
    ['?sslmode=disable', {}, /is not encrypted/],
    ['?sslmode=verify-full', {}, null],
    ['', { ssl: true }, null],
    ['?sslmode=verify-full', { ssl: false }, /is not encrypted/],
    ['', { ssl: { rejectUnauthorized: false } }, /is not verified/],
    ['?sslMode=require', { ssl: true }, /^the URL has an option without effect: host, port, .*, sslkey have one$/],
    ['?schema=zoo', { ssl: true }, /without effect/],
  ])('warns of what the options "%s" and the pool %j leave out', (options, pool, line) => {
    const warnings = line === null ? [] : [expect.stringMatching(line)];
    expect(parseUrl(`postgres://db1/animals${options}`, pool).warnings).toEqual(warnings);
  });
});

describe('createPostgresStorage', () => {
  const url = 'postgres://zoo:secret@localhost/animals';

  test.each([1, 2.5, Number.NaN])('rejects a pool of at most %s connections', (max) => {
    const error = new TypeError('pool.max must be an integer, 2 or more');
    expect(() => createPostgresStorage({ url, pool: { max } })).toThrow(error);
  });
});
