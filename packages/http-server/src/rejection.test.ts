import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { headRejection, INCOMPLETE_BODY, isHead, NO_TUNNELS, parserRejection, type Rejection } from './rejection.ts';

describe('parserRejection', () => {
  test.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', 408, /did not arrive in time/],
    ['HPE_HEADER_OVERFLOW', 431, /fewer than 16384 bytes/],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413, /chunk extensions/],
    ['HPE_INVALID_METHOD', 400, /method in capitals/],
    ['HPE_INVALID_URL', 400, /request target .* percent-encode/],
    ['HPE_INVALID_CONSTANT', 400, /as %20/],
    ['HPE_INVALID_VERSION', 400, /HTTP\/1\.1 or HTTP\/1\.0/],
    ['HPE_INVALID_HEADER_TOKEN', 400, /header field is malformed/],
    ['HPE_INVALID_CONTENT_LENGTH', 400, /Content-Length field is malformed/],
    ['HPE_UNEXPECTED_CONTENT_LENGTH', 400, /one Content-Length field/],
    ['HPE_INVALID_TRANSFER_ENCODING', 400, /Transfer-Encoding field is malformed/],
    ['HPE_CR_EXPECTED', 400, /end in CRLF/],
    ['HPE_LF_EXPECTED', 400, /end in CRLF/],
    ['HPE_STRICT', 400, /line, or a chunk/],
    ['HPE_INVALID_CHUNK_SIZE', 400, /chunk of the body/],
    ['HPE_INVALID_EOF_STATE', 400, /ended before the request/],
    ['HPE_OTHER', 400, /not a valid HTTP\/1\.1 request/],
    [undefined, 400, /not a valid HTTP\/1\.1 request/],
  ])('names for the code %s the status %d and the rule', (code, status, message) => {
    const error = Object.assign(new Error('Parse Error'), { code }) as NodeJS.ErrnoException;
    expect(parserRejection(error)).toMatchObject({
      name: 'Rejection',
      status,
      message: expect.stringMatching(message),
    });
  });
});

test('rejections of bodies and tunnels name the rule', () => {
  expect(INCOMPLETE_BODY.message).toBe('the request ended before its body did');
  expect(NO_TUNNELS.message).toBe('CONNECT is not supported');
});

describe('isHead', () => {
  test.each([
    ['HEAD / HTTP/1.1\r\nA : b', true],
    ['GET / HTTP/1.1\r\nA : b', false],
    ['HEADER / HTTP/1.1\r\n', false],
    [' HEAD / HTTP/1.1\r\n', false],
    // Several requests in one packet: the last one is malformed.
    ['GET / HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\nA : b', true],
    ['HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nA : b', false],
    ['HEAD / HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nA : b', false],
  ])('reads %j, of which more comes after the error: %s', (parsed, expected) => {
    const rawPacket = Buffer.from(`${parsed}\r\n\r\nHEAD`.replace(/HEAD$/, expected ? 'GET ' : 'HEAD '), 'latin1');
    expect(isHead(Object.assign(new Error(), { rawPacket, bytesParsed: parsed.length }))).toBe(expected);
  });

  test('is false if the bytes are unknown', () => {
    expect(isHead(new Error())).toBe(false);
  });
});

describe('headRejection', () => {
  const reject = (given: { host?: string; httpVersion?: string; url?: string }): Rejection | null => {
    const { host, httpVersion = '1.1', url = '/' } = given;
    const headers = host === undefined ? {} : { host };
    return headRejection({ headers, httpVersion, httpVersionMajor: Number(httpVersion[0]), url } as IncomingMessage);
  };

  test.each([
    ...['', 'x', 'x:', ':80', 'x:80', '[::1]', '[::1]:', '[::FFFF:1.2.3.4]:65535', 'Animals_1.example.:65535'],
    ...['%c3%A9.example', "~!$&'()*+,;=-"],
  ])('accepts the host %j', (host) => {
    expect(reject({ host })).toBeNull();
  });

  test.each([
    ...['a b', ' x', 'x ', 'x/y', 'x?y', 'x#y', 'x, y', 'u@x', 'x:y', 'x:80:80', 'x:80y', 'é', '"x"', 'x\\y'],
    ...['::1', '[]', '[::1', '::1]', '[g::1]', '[::1]x', 'x[::1]', '[x]:80', '%', '%c', '%cg', '%gc'],
  ])('rejects the host %j', (host) => {
    expect(reject({ host })).toMatchObject({ status: 400, message: expect.stringMatching(/one Host field/) });
  });

  test.each([
    ...['http://', 'https://', 'http:///a', 'https://:80/', 'HTTP://u@', 'http://u:p@/a', 'http://u@:80', 'http://?a'],
    'http://#a',
  ])('rejects the target %j, whose host is empty', (url) => {
    expect(reject({ host: 'x', url })).toMatchObject({ status: 400, message: expect.stringMatching(/host in the/) });
  });

  test.each([
    ...['/', '*', '/http://', '/a?b=http:///', 'http://x', 'https://x:80/', 'http://u@x/', 'HTTP://x?a', 'http:/a'],
    ...['http://x/@', 'http://x/a@/', 'http://x?a@/', 'http://x#a@/', 'ftp:///a'],
  ])('accepts the target %j', (url) => {
    expect(reject({ host: 'x', url })).toBeNull();
  });

  test.each([
    ['2.0', 'x', /only HTTP\/1\.1 and HTTP\/1\.0/],
    ['0.9', 'x', /only HTTP\/1\.1 and HTTP\/1\.0/],
    ['1.1', undefined, /one Host field/],
    ['1.2', undefined, /one Host field/],
  ])('rejects HTTP/%s with the host %s', (httpVersion, host, message) => {
    const given = host === undefined ? { httpVersion } : { httpVersion, host };
    expect(reject(given)).toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });

  test('accepts HTTP/1.0 without a host', () => {
    expect(reject({ httpVersion: '1.0' })).toBeNull();
  });
});
