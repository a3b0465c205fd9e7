import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { InputFile } from './input-file.ts';

/** Opens a file of some bytes. */
async function opened(length: number): Promise<{ path: string; file: InputFile }> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pets.ndjson');
  writeFileSync(path, 'x'.repeat(length));
  const file = await InputFile.open(path, process.stdin);
  onTestFinished(() => file.close());
  return { path, file };
}

async function lengthOf(file: InputFile): Promise<number> {
  let length = 0;
  for await (const chunk of file.chunks()) length += chunk.length;
  return length;
}

test('reads a file up to the length that it had when it was opened', async () => {
  const { path, file } = await opened(300_000);
  appendFileSync(path, 'more');
  expect(await lengthOf(file)).toBe(300_000);
});

test('rejects a file that became shorter', async () => {
  const { path, file } = await opened(300_000);
  truncateSync(path, 299_999);
  const message = 'the file became shorter while it was read';
  await expect(lengthOf(file)).rejects.toThrow(message);
  await expect(file.digest()).rejects.toThrow(message);
});
