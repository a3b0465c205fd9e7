import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGES, PNPM, packAll, ROOT, run, tarball } from '@animal-store/packaging/packages';
import { manifests, read } from './repository.ts';

/** The artifacts of a release: tarballs and SBOMs (CycloneDX). */
const ARTIFACTS: string = join(ROOT, 'tools/release/generated');

const IMAGE = 'animal-store:release';

/** buildah gives the same digest for the same sources and base: the time of the build is the commit's. */
const buildah = (...args: readonly string[]): string => run('buildah', args, ROOT);

const [npx, ...pnpmArgs] = PNPM;
const pnpm = (...args: readonly string[]): string => run(npx, [...pnpmArgs, ...args], ROOT);

/** Sets the next version, and writes the changelogs of the packages and the heading in CHANGELOG.md. */
export function version(): void {
  run(join(ROOT, 'node_modules/.bin/changeset'), ['version'], ROOT);
  writeFileSync(
    join(ROOT, 'CHANGELOG.md'),
    read('CHANGELOG.md').replace(/^## Next$/m, `## ${manifests()[0]?.version}`),
  );
}

/** Packs each published package, with its SBOM beside it. */
export function pack(): void {
  rmSync(ARTIFACTS, { recursive: true, force: true });
  mkdirSync(ARTIFACTS);
  packAll(ARTIFACTS);
  const filters = PACKAGES.map((name) => `--filter=./packages/${name}`);
  pnpm(...filters, 'sbom', '--sbom-format=cyclonedx', '--prod', '--split', `--out=${ARTIFACTS}/%s-%v.cdx.json`);
}

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

/**
 * Builds the image on the base in `node-image` or in the variable NODE_IMAGE, and writes its SBOM: the dependencies of the
 * service and the command line, Node.js, and the libraries of Debian.
 */
export function image(): void {
  const base = process.env['NODE_IMAGE'] ?? read('tools/release/node-image').trim();
  const [revision = '', timestamp] = run('git', ['show', '--no-patch', '--format=%H %ct', 'HEAD'], ROOT)
    .trim()
    .split(' ');
  const args = { NODE_IMAGE: base, VERSION: manifests()[0]?.version, REVISION: revision };
  const options = Object.entries(args).map(([name, value]) => `--build-arg=${name}=${value}`);
  const file = '--file=tools/deploy/image/Dockerfile';
  // Health checks are not part of the OCI format.
  buildah(
    'build',
    '--no-cache',
    '--format=docker',
    `--timestamp=${timestamp}`,
    file,
    `--tag=${IMAGE}`,
    ...options,
    '.',
  );

  mkdirSync(ARTIFACTS, { recursive: true });
  const sbomFile = join(ARTIFACTS, 'image.cdx.json');
  const filters = ['http', 'cli'].map((name) => `--filter=./apps/${name}`);
  pnpm(...filters, 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--prod', `--out=${sbomFile}`);
  const sbom = JSON.parse(readFileSync(sbomFile, 'utf8'));
  sbom.components.push(...systemComponents());
  writeFileSync(sbomFile, `${JSON.stringify(sbom, null, 2)}\n`);
}

/**
 * Pushes the image that `image` has built.
 *
 * @param target A name of buildah: `docker://ghcr.io/owner/name:v1.0.0`, or `oci:folder`.
 * @returns Its digest.
 */
export function push(target: string): string {
  mkdirSync(ARTIFACTS, { recursive: true });
  const file = join(ARTIFACTS, 'image.digest');
  buildah('push', `--digestfile=${file}`, IMAGE, target);
  return readFileSync(file, 'utf8');
}

function systemComponents(): Component[] {
  const program = 'JSON.stringify([process.versions.node, fs.readFileSync("/var/lib/dpkg/status", "utf8")])';
  const container = buildah('from', IMAGE).trim();
  try {
    const [node, status] = JSON.parse(buildah('run', container, 'node', '--print', program));
    const debian = [...(status as string).matchAll(/^Package: (.+)\n(?:.+\n)*?Version: (.+)$/gm)];
    return [
      { type: 'platform', name: 'node', version: node, purl: `pkg:generic/node@${node}` },
      ...debian.map(([, name = '', version = '']) => {
        return { type: 'library', name, version, purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}` };
      }),
    ];
  } finally {
    buildah('rm', container);
  }
}

/** Publishes the tarballs that `pack` has made; a version that is published already is left alone. */
export function publish(): void {
  for (const [index, { name, version }] of manifests().entries()) {
    const tag = process.env['GITHUB_REF_NAME'] ?? `v${version}`;
    if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, but ${name} has version ${version}`);
    if (isPublished(`${name}@${version}`)) continue;
    run('npm', ['publish', join(ARTIFACTS, tarball(PACKAGES[index] as string)), '--access=public'], ROOT);
    console.log(`published ${name}@${version}`);
  }
}

function isPublished(spec: string): boolean {
  try {
    return run('npm', ['view', spec, 'version'], ROOT).trim() !== '';
  } catch (error) {
    if (String(error).includes('E404')) return false;
    throw error;
  }
}

/** Compares the lockfile with the registry's list of vulnerabilities. Throws an Error if one of production is high. */
export function audit(): void {
  console.log(pnpm('audit', '--prod', '--audit-level=high'));
}
