import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { freshFolder } from '@animal-store/test-kit/fresh-folder';
import { ROOT } from '@animal-store/test-kit/programs';
import { describe, expect, test } from 'vitest';

/** Reads JSON with comments that stand on lines of their own. */
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8').replace(/^\s*\/\/.*$/gm, ''));

/** The folders of the packages and applications. */
const published = globSync('{packages,apps}/*/package.json', { cwd: ROOT }).map((file) => join(file, '..'));

describe('the repository', () => {
  test('has one set of compiler options, which its programs, packages and applications extend', () => {
    expect(read('tsconfig.json').extends).toBe('./tsconfig.base.json');
    expect(published).not.toEqual([]);
    const bases = published.map((folder) => [folder, read(`${folder}/tsconfig.build.json`).extends]);
    expect(bases).toEqual(published.map((folder) => [folder, '../../tsconfig.base.json']));
  });

  test('lets Turborepo build, check and test each package and application', () => {
    const tasks = ['build', 'check', 'test'];
    expect(Object.keys(read('turbo.json').tasks)).toEqual(expect.arrayContaining(tasks));
    for (const folder of published) {
      const { scripts } = read(`${folder}/package.json`);
      expect(Object.keys(scripts), folder).toEqual(expect.arrayContaining(tasks));
      // Vitest fails if the name leads to no project.
      expect(scripts.test).toContain(`--project '${folder}*'`);
    }
  });

  test('leaves a note for the changelog as it is: Biome takes its front matter for a heading', () => {
    const folder = freshFolder();
    for (const file of ['biome.json', '.gitignore']) cpSync(join(ROOT, file), join(folder, file));
    const note = "---\n'@animal-store/domain': patch\n---\n\nNames may be longer.\n";
    for (const name of ['.changeset', 'docs']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'note.md'), note);
    }
    spawnSync(join(ROOT, 'node_modules/.bin/biome'), ['check', '--write', '.'], { cwd: folder });
    expect(readFileSync(join(folder, '.changeset/note.md'), 'utf8')).toBe(note);
    // Otherwise the test would not notice that Biome did not run.
    expect(readFileSync(join(folder, 'docs/note.md'), 'utf8')).not.toBe(note);
  });
});

/** The anchors of the headings of a Markdown file, as GitHub makes them. */
function anchors(file: string): string[] {
  const headings = readFileSync(file, 'utf8')
    .replaceAll(/^```.*?^```$/gms, '')
    .matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documents', () => {
  test('link to files and headings that exist', () => {
    const files = globSync('{*.md,{docs,apps,packages,tools}/**/*.md}', {
      cwd: ROOT,
      exclude: (name) => name.includes('node_modules'),
    });
    const broken = files.flatMap((file) => {
      const links = readFileSync(join(ROOT, file), 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g);
      return Array.from(links, ([link, path = '', anchor]) => {
        const target = path === '' ? join(ROOT, file) : join(ROOT, dirname(file), path);
        const isFound = existsSync(target) && (anchor === undefined || anchors(target).includes(anchor));
        return isFound ? [] : [`${file}: ${link}`];
      }).flat();
    });
    expect(files.length).toBeGreaterThan(20);
    expect(broken).toEqual([]);
  });

  test('have commands that a shell can read', () => {
    const files = globSync('{*.md,docs/*.md}', { cwd: ROOT });
    const blocks = files.flatMap((file) =>
      Array.from(
        readFileSync(join(ROOT, file), 'utf8').matchAll(/^( *)```sh\n(.*?)^\1```$/gms),
        ([, indent = '', text = '']) => {
          const { status, stderr } = spawnSync('bash', ['-n'], {
            input: text.replaceAll(`\n${indent}`, '\n'),
            encoding: 'utf8',
          });
          return { file, ok: status === 0, stderr };
        },
      ),
    );
    expect(blocks.length).toBeGreaterThan(20);
    expect(blocks.filter(({ ok }) => !ok)).toEqual([]);
  });

  test('show the imports between packages and applications', () => {
    const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
    const [, picture = ''] = /```mermaid\n(.*?)```/s.exec(page) ?? [];
    const nodes = (text: string) => text.split(' & ').map((node) => node.trim().replace(/[{([].*/, ''));
    const shown = [...picture.matchAll(/^(.+) --> (.+)$/gm)].flatMap(([, from = '', to = '']) =>
      nodes(from).flatMap((source) => nodes(to).map((target) => [source, target] as const)),
    );
    const imported = globSync('{packages,apps}/*/src/**/*.ts', { cwd: ROOT }).flatMap((file) => {
      const source = file.split('/')[1] as string;
      const text = file.endsWith('.test.ts') ? '' : readFileSync(join(ROOT, file), 'utf8');
      const targets = text.matchAll(/(?:\bfrom |\bimport\(|^import )'@animal-store\/([\w-]+)/gm);
      return Array.from(targets, ([, target]) => [source, target] as const).filter(([, target]) => target !== source);
    });
    const names = published.map((folder) => basename(folder));
    const textsOf = (edges: readonly (readonly unknown[])[]) => edges.map((edge) => edge.join(' --> ')).sort();
    const betweenOwn = shown.filter(([source]) => names.includes(source));
    expect(textsOf(betweenOwn)).toEqual([...new Set(textsOf(imported))]);
  });

  test('show files that exist as the way of a request', () => {
    const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
    const subgraphs = page.matchAll(/subgraph \w+\["(.+?)"\]\n(.*?)\n {2}end/gs);
    const boxes = Array.from(subgraphs, ([, folder = '', content = '']) =>
      Array.from(content.matchAll(/[\w/-]+\.ts/g), ([file]) => join(folder, file)),
    ).flat();
    expect(boxes.length).toBeGreaterThan(10);
    expect(boxes.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

/** The imports that the rules reject in a tree of these files, as rule and file. */
function violations(files: Record<string, string>): string[] {
  const folder = realpathSync(freshFolder());
  cpSync(join(ROOT, '.dependency-cruiser.mjs'), join(folder, '.dependency-cruiser.mjs'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const depcruise = join(ROOT, 'node_modules/.bin/depcruise');
  const roots = [...new Set(Object.keys(files).map((path) => path.split('/')[0] as string))];
  const options = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', ...roots];
  const { stdout } = spawnSync(depcruise, options, { cwd: folder, encoding: 'utf8' });
  const found: { rule: { name: string }; from: string }[] = JSON.parse(stdout).summary.violations;
  return found.map(({ rule, from }) => `${rule.name}: ${from}`);
}

describe('the import rules', () => {
  test('reject an adapter that imports another one, and no import of the domain', () => {
    const files = {
      'packages/domain/src/index.ts': 'export const domain = 1;',
      'packages/adapter-memory/src/index.ts': "export * from '../../domain/src/index.ts';",
      'packages/adapter-sqlite/src/index.ts': "export * from '../../adapter-memory/src/index.ts';",
    };
    expect(violations(files)).toContain('not-in-allowed: packages/adapter-sqlite/src/index.ts');
    expect(violations(files).join()).not.toContain('not-in-allowed: packages/adapter-memory/');
  });

  test('keep the server of apps/http and its application apart', () => {
    const src = 'apps/http/src';
    const found = violations({
      [`${src}/app/errors.ts`]: 'export const errors = 1;',
      [`${src}/app/app.ts`]: "import 'node:http'; export * from '../server/server.ts';",
      [`${src}/app/net.ts`]: "import 'node:net';",
      [`${src}/server/server.ts`]: "export { errors } from '../app/errors.ts'; import 'node:http';",
      [`${src}/server/request.ts`]: "export * from '../app/net.ts';",
    });
    expect(found.filter((violation) => /-knows-no-/.test(violation)).sort()).toEqual([
      `application-knows-no-server: ${src}/app/app.ts`,
      `application-knows-no-server: ${src}/app/app.ts`,
      `application-knows-no-server: ${src}/app/net.ts`,
      `server-knows-no-application: ${src}/server/request.ts`,
    ]);
  });
});
