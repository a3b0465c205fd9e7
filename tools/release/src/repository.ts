import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf, type Manifest, PACKAGES, ROOT, readManifest } from '@animal-store/packaging/packages';

/** The text of a file. `path` is relative to the root of the repository. */
export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The manifests of the published packages. They have one common version. */
export const manifests = (): Manifest[] => PACKAGES.map((name) => readManifest(folderOf(name)));
