import { expect, test } from 'vitest';
import { startService } from './service.ts';

test.each([
  ['200', 'GET http://example.org/livez HTTP/1.1\r\nHost: example.org'],
  ['200', 'GET HTTPS://EXAMPLE.ORG:443/livez?x=y HTTP/1.1\r\nHost: example.org'],
  ['200', 'GET /livez HTTP/1.1\r\nHost: [::1]:3000'],
  ['200', 'GET /livez HTTP/1.1\r\nHost: x:'],
  ['200', 'GET /livez HTTP/1.1\r\nHost: '],
  ['200', 'GET /livez HTTP/1.1\r\nHost: Animals_1.example.:65535'],
  ['200', 'GET /livez HTTP/1.0\r\nHost: x'],
  ['200', 'GET /livez HTTP/1.0'],
  ['404', 'OPTIONS * HTTP/1.1\r\nHost: x'],
  ['302', 'GET http://example.org HTTP/1.1\r\nHost: x'],
  ['302', 'GET http://example.org?x HTTP/1.1\r\nHost: x'],
  ['404', 'GET ftp://example.org/livez HTTP/1.1\r\nHost: x'],
  ['404', 'GET /v1\\pets HTTP/1.1\r\nHost: x'],
  ['401', 'GET /v1/pets\\1 HTTP/1.1\r\nHost: x'],
  ['200', 'GET /v1/../livez HTTP/1.1\r\nHost: x'],
  ['401', 'GET /livez/%2E%2e/v1/pets HTTP/1.1\r\nHost: x'],
  ['200', 'GET /livez?\\^`{|}"<> HTTP/1.1\r\nHost: x'],
])('responds with %s to %j', async (status, head) => {
  const { raw, unexpectedErrors } = await startService();
  const received = await raw(`${head}\r\nConnection: close\r\n\r\n`);
  expect(received.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  expect(unexpectedErrors).toEqual([]);
});
