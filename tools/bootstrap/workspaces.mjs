import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './programs.mjs';

/** The folders of pnpm's workspaces, relative to the root, in a fixed order. */
export function workspaces() {
  return ['apps', 'packages', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => `${folder}/${name}`)
      .filter((workspace) => existsSync(join(root, workspace, 'package.json')))
      .sort(),
  );
}
