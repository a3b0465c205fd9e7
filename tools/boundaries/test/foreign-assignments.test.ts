import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findForeignAssignments, readCompilerOptions } from './foreign-assignments.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const OPTIONS = readCompilerOptions(join(ROOT, 'tools/boundaries/tsconfig.json'));

const FORBIDDEN = [
  'response.end = () => response',
  'socket.resume = socket.pause',
  "socket['resume'] ??= socket.pause",
  'server.closeIdleConnections = () => {}',
  'process.exit = own.exit',
  '(response as ServerResponse & { _sent100: boolean })._sent100 = true',
  'Object.assign(server, { httpAllowHalfOpen: true })',
  "Object.defineProperty(socket, 'resume', { value: () => socket })",
  "Reflect.deleteProperty(socket, 'resume')",
  'delete (socket as Partial<Socket>).resume',
];

const ALLOWED = [
  'server.maxConnections = 10',
  "Reflect.set([1], 'length', 0)",
  'own.end = () => {}',
  'Object.assign(own, { end() {} })',
  "Object.assign(new Error('no'), { code: 'ENOENT' })",
  'class Own extends ServerResponse { _last = false; override end() { this._last = true; return this; } }',
];

test('the check finds every assignment to a method or an internal field of an object of Node.js, and no other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-assignments-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lines = [
    "import { type Server, ServerResponse } from 'node:http';",
    "import type { Socket } from 'node:net';",
    'declare const server: Server, socket: Socket, response: ServerResponse, own: { end(): void; exit(): never };',
    ...[...FORBIDDEN, ...ALLOWED].map((statement) => `${statement};`),
  ];
  const file = join(folder, 'program.ts');
  writeFileSync(file, lines.join('\n'));
  const options = { ...OPTIONS, typeRoots: [join(ROOT, 'node_modules/@types')] };
  expect(findForeignAssignments([file], options, folder)).toEqual(
    FORBIDDEN.map((statement, index) => `program.ts:${index + 4}: ${statement}`),
  );
});

test('no package and no application assigns methods or internal fields of objects of Node.js and libraries', () => {
  const files = globSync('{packages,apps}/*/{src,test}/**/*.ts', { cwd: ROOT }).map((file) => join(ROOT, file));
  expect(files.length).toBeGreaterThan(100);
  expect(findForeignAssignments(files, OPTIONS, ROOT)).toEqual([]);
}, 120_000);
