import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callsTo, startService } from '@animal-store/test-kit/service';
import { expect, inject, test } from 'vitest';
import type { Language } from '../src/global-setup.ts';
import { createWorkspace, EXAMPLES, installPythonPackages } from '../src/workspace.ts';

const isMissing = (...languages: Language[]) => languages.some((language) => inject('missing').includes(language));

test.skipIf(isMissing('Python', 'Java'))(
  'a generated client that checks schemas sends and reads every name that the service accepts',
  async () => {
    const names = [
      ...['\u001c', '\u001d', '\u001e', '\u001f', '\u0085', '\u0001', '\u180e', '\u200b', '\u2060'],
      ...[' Rex', 'Rex ', '\nRex\r\n', '\ufeffRex', '🐕'.repeat(200), '\u{10ffff}', '"\\'],
    ];
    await using service = await startService();
    for (const name of names) {
      expect((await callsTo(service.url).add(JSON.stringify(name).slice(1, -1))).status, JSON.stringify(name)).toBe(
        201,
      );
    }
    using workspace = createWorkspace('python-strict');
    const document = await fetch(new URL('/openapi.json', service.url));
    writeFileSync(join(workspace.folder, 'openapi.json'), await document.text());
    writeFileSync(join(workspace.folder, 'names.json'), JSON.stringify(names));
    const [download = ''] = readFileSync(join(EXAMPLES, 'openapi-generator-java.sh'), 'utf8').split('java -jar');
    const options = '--input-spec openapi.json --output generated --generator-name python --package-name animals';
    const generate = `java -jar openapi-generator-cli.jar generate ${options}`;
    await workspace.run('sh', ['-euc', `${download}${generate}; mv generated/animals .`]);
    await installPythonPackages(workspace);
    const output = await workspace.run('python3', ['program.py'], service.environment);
    expect(JSON.parse(output)).toEqual([...names, ...names]);
  },
);
