import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callsTo, type Service, startService } from '@animal-store/test-kit/service';
import { describe, expect, inject, test } from 'vitest';
import type { Language } from '../src/global-setup.ts';
import { createWorkspace, EXAMPLES, installPythonPackages } from '../src/workspace.ts';

interface Document {
  readonly components: { schemas: { NewPet: { properties: { name: { pattern: string } } } } };
}

async function patternOfNames({ url }: Service): Promise<string> {
  const document = (await (await fetch(new URL('/openapi.json', url))).json()) as Document;
  return document.components.schemas.NewPet.properties.name.pattern;
}

/** A text with each character of the Basic Multilingual Plane, alone and beside white space and letters. */
const TEXTS = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit))
  .filter((character) => character.isWellFormed())
  .flatMap((character) => [character, ` ${character}`, `${character}\n`, `x${character}`]);

/** Programs that match texts, with the number of ways in which their language matches. */
const LANGUAGES: readonly [Language, [string, ...string[]], number][] = [
  ['Python', ['python3', 'match.py'], 3],
  ['Go', ['go', 'run', 'match.go'], 1],
  ['Java', ['java', 'Match.java'], 3],
];

const isMissing = (...languages: Language[]) => languages.some((language) => inject('missing').includes(language));

describe('the pattern of names means the same as in JavaScript', () => {
  for (const [language, [program, ...words], ways] of LANGUAGES) {
    test.skipIf(isMissing(language))(`in ${language}`, async () => {
      await using service = await startService();
      using workspace = createWorkspace('patterns');
      const pattern = await patternOfNames(service);
      const pointsOf = (text: string) => Array.from(text, (character) => character.codePointAt(0)).join(' ');
      writeFileSync(join(workspace.folder, 'texts'), [pattern, ...TEXTS].map(pointsOf).join('\n'));
      const matches = (await workspace.run(program, words)).trim();
      const expression = new RegExp(pattern, 'u');
      const different = TEXTS.filter((text, index) => Number(matches[index]) !== (expression.test(text) ? ways : 0));
      expect(different.map((text) => JSON.stringify(text))).toEqual([]);
      expect(matches).toHaveLength(TEXTS.length);
    });
  }
});

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
