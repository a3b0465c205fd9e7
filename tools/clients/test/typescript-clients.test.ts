import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectedOutcome, parseOutcome } from '../src/scenario.ts';
import { startService } from '../src/service.ts';
import { createWorkspace, EXAMPLES } from '../src/workspace.ts';

describe('a client in TypeScript generated from the document', () => {
  test.each([
    ['openapi-fetch', '42'],
    ['hey-api', '9223372036854775807'],
  ])('%s compiles, creates, pages to the end and reads errors', async (name, categoryId) => {
    await using service = await startService();
    using workspace = createWorkspace();
    workspace.copyPrograms(`typescript/${name}`);
    workspace.write('openapi.json', service.document);
    for (const example of ['openapi-ts.config.js', 'exact-fetch.ts']) workspace.copyExample(example);
    await workspace.run('sh', ['-eu', join(EXAMPLES, `${name}.sh`)]);
    await workspace.run('tsc', ['--project', '.']);
    const output = await workspace.run(process.execPath, ['dist/program.js'], service.environment);
    expect(parseOutcome(output)).toEqual(expectedOutcome(categoryId));
  });
});
