import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '@animal-store/test-kit/service';
import { inject, test } from 'vitest';
import { createWorkspace, installPythonPackages } from '../src/workspace.ts';

/** What the document says in words: a cursor comes from a Link, and a key stands for one pet. */
const CONFIGURATION = `
headers = { Authorization = "Bearer \${API_KEY}" }

[[operations]]
include-name = "GET /pets"
parameters = { "query.cursor" = "AQAAAAAAAAAB" }

[[operations]]
include-name = "POST /pets"
checks.positive_data_acceptance.expected-statuses = ["2xx", "422"]
`;

test.skipIf(inject('missing').includes('Python'))(
  'Schemathesis finds no response that differs from the document, in all its phases',
  async () => {
    await using service = await startService();
    using workspace = createWorkspace();
    await installPythonPackages(workspace, 'schemathesis==4.32.5');
    writeFileSync(join(workspace.folder, 'schemathesis.toml'), CONFIGURATION);
    const location = new URL('/openapi.json', service.url).href;
    const options = ['--seed=1', '--max-examples=400', '--no-color'];
    // It ends with 1 if it finds one, and then says how to send the request again.
    console.log(await workspace.run('schemathesis', ['run', location, ...options], service.environment));
  },
);
