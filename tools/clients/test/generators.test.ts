import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '@animal-store/test-kit/service';
import { inject, test } from 'vitest';
import type { Language } from '../src/global-setup.ts';
import { createWorkspace, EXAMPLES } from '../src/workspace.ts';

const [download = ''] = readFileSync(join(EXAMPLES, 'openapi-generator-java.sh'), 'utf8').split('java -jar');

/** Generators that copy more of the document into source code than those of docs/examples, with commands that compile it. */
const GENERATORS: readonly [name: string, needs: readonly Language[], commands: string][] = [
  [
    'openapi-generator for Go',
    ['Java', 'Go'],
    // It makes a function NewPet for the type Pet.
    `${download}java -jar openapi-generator-cli.jar generate --input-spec openapi.json --output animals \
      --generator-name go --package-name animals --model-name-mappings Error=ApiError,NewPet=PetToAdd
    rm -r animals/test
    cd animals && go mod tidy && go build ./...`,
  ],
  [
    'hey-api for zod',
    [],
    `npx --yes --package @hey-api/openapi-ts@0.99.0 --package typescript@5 \
      openapi-ts --input openapi.json --output zod --plugins zod
    node --check zod/zod.gen.ts`,
  ],
];

for (const [name, needs, commands] of GENERATORS) {
  test.skipIf(needs.some((language) => inject('missing').includes(language)))(
    `${name} makes source code that compiles`,
    async () => {
      await using service = await startService();
      using workspace = createWorkspace();
      const document = await fetch(new URL('/openapi.json', service.url));
      writeFileSync(join(workspace.folder, 'openapi.json'), await document.text());
      await workspace.run('sh', ['-euc', commands]);
    },
  );
}
