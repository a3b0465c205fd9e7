import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSqliteStorage } from '@animal-store/adapter-sqlite';
import { folderOf, PACKAGES, ROOT, readManifest } from '@animal-store/packaging/packages';
import { find, read } from './repository.ts';

/** The file with the surface of the version that was published last. */
export const SURFACE = 'tools/release/surface.json';

/** The names that operators and users of packages rely on, by kind, with a digest if a name has a definition. */
export type Surface = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The surface of this checkout. */
export async function readSurface(): Promise<Surface> {
  return {
    settings: names(matches(read('docs/settings.md'), /^- `([A-Z_]+)`/gm)),
    metrics: names(metrics()),
    'error codes': names(errorCodes()),
    exports: names(PACKAGES.flatMap(exportsOf)),
    'stored formats': { ...(await mongoFormats()), ...(await postgresFormat()), ...(await sqliteFormats()) },
  };
}

/**
 * The names that the changelog must list: those that are gone or have another definition, and new error codes, because
 * clients may switch over the codes.
 */
export function changes(released: Surface, current: Surface): string[] {
  const gone = Object.entries(released).flatMap(([kind, entries]) =>
    Object.entries(entries)
      .filter(([name, definition]) => current[kind]?.[name] !== definition)
      .map(([name]) => name),
  );
  const codes = Object.keys(current['error codes'] ?? {}).filter((name) => !(name in (released['error codes'] ?? {})));
  return [...gone, ...codes];
}

/** The names that the section Next of CHANGELOG.md does not have in backticks. */
export function unlisted(names: readonly string[], upgrading: string): string[] {
  const [, next = ''] = upgrading.split(/^## Next$/m);
  const [section = ''] = next.split(/^## /m);
  return names.filter((name) => !section.includes(`\`${name}\``));
}

const names = (list: readonly string[]): Record<string, string> =>
  Object.fromEntries([...new Set(list)].sort().map((name) => [name, '']));

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, name = '']) => name);

const digest = (definition: string): string => createHash('sha256').update(definition).digest('hex').slice(0, 12);

/** A test of apps/http finds each in /metrics. */
function metrics(): string[] {
  const sources = find('{packages/observability,apps/http}/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));
  return sources.flatMap((path) => matches(read(path), /'((?:animal_store|http)_[a-z_]+)'/g));
}

function errorCodes(): string[] {
  const [, ofHttp = ''] = /ERROR_STATUS = \{([^}]+)\}/.exec(read('apps/http/src/http/http-error.ts')) ?? [];
  const [, ofDomain = ''] = /DomainErrorCode =([\s\S]+?);\n\n/.exec(read('packages/domain/src/domain-error.ts')) ?? [];
  return [...matches(ofHttp, /(\w+): \d/g), ...matches(ofDomain, /'(\w+)'/g)];
}

function exportsOf(folder: string): string[] {
  const { name, exports } = readManifest(folderOf(folder));
  return Object.entries(exports).flatMap(([entry, { '@animal-store/source': source }]) => {
    if (source === undefined) return [];
    return exportedNames(read(join('packages', folder, source))).map(
      (exported) => `${name}${entry.slice(1)} ${exported}`,
    );
  });
}

/** The names that a module exports, types included. Throws an Error if it does not name them. */
export function exportedNames(text: string): string[] {
  if (/^export \*/m.test(text)) throw new Error('an entry point exports *: name what it exports');
  const lists = matches(text, /^export (?:type )?\{([^}]*)\}/gm).flatMap((list) => list.split(','));
  return [
    ...lists.map((item) => item.trim().split(/\s+/).at(-1) ?? '').filter((name) => name !== ''),
    ...matches(text, /^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm),
  ];
}

async function sqliteFormats(): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-surface-'));
  const file = join(folder, 'animals.db');
  try {
    const storage = createSqliteStorage({ file });
    await storage.ready();
    await storage.close();
    const db = new DatabaseSync(file, { readOnly: true });
    const objects = db.prepare('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name').all();
    db.close();
    return Object.fromEntries(objects.map(({ name, sql }) => [`SQLite ${name}`, digest(String(sql))]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function mongoFormats(): Promise<Record<string, string>> {
  // No entry point exports the definitions of the collections.
  const { COLLECTIONS } = await import(join(ROOT, 'packages/adapter-mongodb/src/open-database.ts'));
  const text = (definition: unknown) =>
    JSON.stringify(definition, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return Object.fromEntries(
    COLLECTIONS.map((definition: { name: string }) => [`MongoDB ${definition.name}`, digest(text(definition))]),
  );
}

async function postgresFormat(): Promise<Record<string, string>> {
  const { CREATE_TABLES } = await import(join(ROOT, 'packages/adapter-postgres/src/schema.ts'));
  return { 'PostgreSQL tables': digest(CREATE_TABLES) };
}
