import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { PACKAGES, ROOT, readManifest, run } from '@animal-store/packaging/packages';
import { installRuntimes, missingRuntimes, RUNTIMES, type Runtime, supports } from '@animal-store/packaging/runtimes';
import { push } from './artifacts.ts';

/** Releases a clone of HEAD with every step but the publication, then installs and uses its tarballs on each runtime. */
export function rehearse(): void {
  installRuntimes();
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-rehearsal-'));
  try {
    const clone = join(folder, 'clone');
    release(clone);
    for (const runtime of RUNTIMES) {
      if (missingRuntimes().includes(runtime)) console.log(`NOT RUN: ${runtime.name} is not installed here`);
      else use(runtime, join(clone, 'tools/release/generated'), join(folder, runtime.name));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function release(clone: string): void {
  run('git', ['clone', '--quiet', ROOT, clone], ROOT);
  const step = (name: string) => run('npm', ['run', 'release', '--', name], clone);
  writeFileSync(join(clone, '.changeset/rehearsal.md'), '---\n"@animal-store/domain": minor\n---\n\nRehearsed.\n');
  step('version');
  const changed = run('git', ['status', '--short'], clone).trimEnd();
  console.log(`version ${readManifest(join(clone, 'packages/domain')).version} changes\n${changed}`);
  step('pack');
  if (isInstalled('buildah')) buildTwice(() => step('image'), join(clone, 'tools/release/generated'));
  else console.log('NOT RUN: the image, because buildah is not installed here');
  console.log(`\nartifacts\n${readdirSync(join(clone, 'tools/release/generated')).join('\n')}\n`);
}

/** @throws Error if two builds of the image have two digests */
function buildTwice(build: () => void, artifacts: string): void {
  const [first, second] = [1, 2].map(() => {
    build();
    const layout = mkdtempSync(join(artifacts, 'image-'));
    try {
      return push(`oci:${layout}`);
    } finally {
      rmSync(layout, { recursive: true });
    }
  });
  if (first !== second) throw new Error(`two builds of the image have the digests ${first} and ${second}`);
  console.log(`two builds of the image have the digest ${first}`);
}

function isInstalled(command: string): boolean {
  try {
    run(command, ['--version'], ROOT);
    return true;
  } catch {
    return false;
  }
}

/** Installs the packages in an empty folder, with their dependencies from the registry, and imports them. */
function use(runtime: Runtime, artifacts: string, folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const chosen = PACKAGES.filter((name) => supports(name, runtime));
  const isChosen = (file: string) => chosen.some((name) => new RegExp(`^animal-store-${name}-\\d.*\\.tgz$`).test(file));
  const files = readdirSync(artifacts).filter(isChosen);
  const [command, ...args] = runtime.command;
  // npm itself runs on the Node.js that is tested.
  const PATH = `${runtime.node === undefined ? '' : dirname(command) + delimiter}${process.env['PATH']}`;
  const environment = { ...process.env, PATH };
  const install = [
    'install',
    '--no-audit',
    '--no-fund',
    '--engine-strict',
    ...files.map((file) => join(artifacts, file)),
  ];
  run('npm', install, folder, environment);
  // The contract can be imported by tests only.
  const imported = chosen.filter((name) => name !== 'adapter-contract');
  writeFileSync(join(folder, 'use.js'), imported.map((name) => `import '@animal-store/${name}';\n`).join(''));
  run(command, [...args, 'use.js'], folder, environment);
  console.log(`✓ ${runtime.name}: ${chosen.join(', ')}`);
}
