import { expect, test } from 'vitest';
import { startupMessage } from './operator-messages.ts';

test('the startup message has the address, the key, the storage and a command that adds an animal', () => {
  const url = 'http://localhost:3000/v1';
  const message = startupMessage({ url, key: 'the-key', storage: 'in memory', version: '1.2.3' });
  for (const part of ['1.2.3', url, 'the-key', 'in memory']) expect(message).toContain(part);
  const [, body = '', target] = /curl .*'Authorization: Bearer the-key'.*\\\n.*-d '(.*)' (.*)\n/.exec(message) ?? [];
  expect(JSON.parse(body)).toMatchObject({ name: 'Rex' });
  expect(target).toBe(`${url}/pets`);
});
