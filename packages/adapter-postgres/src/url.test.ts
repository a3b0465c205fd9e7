import { describe, expect, test } from 'vitest';
import { parseUrl } from './connection.ts';

describe('parseUrl', () => {
  test.each([
    ['postgres://localhost/animals', 'localhost:5432'],
    ['postgresql://zoo:p%40ss@db1:5433/animals?sslmode=verify-full', 'db1:5433'],
    ['postgres:///animals?host=/run/postgresql', '/run/postgresql'],
    ['postgres://[::1]:5432/animals', '::1:5432'],
  ])('reads %s', (url, location) => {
    expect(parseUrl(url)).toEqual({ url, location, warnings: [] });
  });

  test.each([
    ['mysql://zoo:secret@db1/animals', /^the PostgreSQL URL must be postgres:\/\/.* percent-encoded$/],
    ['postgres://zoo:secret@db1', /^the PostgreSQL URL must be /],
    ['postgres://zoo:secret@db1/', /^the PostgreSQL URL must be /],
    ['postgres://zoo:secret@db1:x/animals', /^the PostgreSQL URL must be /],
    ['postgres://zoo:secret@db1:1,db2:2/animals', /^the PostgreSQL URL must be .*one host/],
    ['postgres://zoo:12#secret@db1/animals', /^the PostgreSQL URL must be /],
    ['postgres://zoo:12/34?secret@db1/animals', /^the PostgreSQL URL must be /],
    ['postgres://zoo:pa@secret/word@db1/animals', /^the PostgreSQL URL must be /],
    ['postgres://zoo:secret@db1/animals?sslrootcert=/nowhere', /\(sslrootcert, .*\) cannot be read: no such file or/],
  ])('rejects %s without quoting it', (url, line) => {
    expect(() => parseUrl(url)).toThrow(
      expect.objectContaining({ name: 'StorageMisconfigured', message: expect.stringMatching(line) }),
    );
    expect(() => parseUrl(url)).not.toThrow(/secret/);
  });

  test.each(['allow', 'prefer', 'require', 'verify-ca'])(
    'verifies as much with sslmode=%s as with verify-full',
    (mode) => {
      expect(parseUrl(`postgres://db1/animals?sslmode=${mode}&y=2&sslmode=${mode}`).url).toBe(
        'postgres://db1/animals?sslmode=verify-full&y=2&sslmode=verify-full',
      );
    },
  );

  test.each([
    ['?sslmode=no-verify', "sslmode=no-verify: the server's certificate is not verified, use verify-full"],
    ['', 'the connection to db1 is not encrypted: add sslmode=verify-full to the URL'],
    ['?sslmode=disable', 'the connection to db1 is not encrypted: add sslmode=verify-full to the URL'],
  ])('warns of an insecure connection to another host: "%s"', (options, warning) => {
    expect(parseUrl(`postgres://db1/animals${options}`).warnings).toEqual([warning]);
  });
});
