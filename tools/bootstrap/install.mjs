import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodeOf, interrupted, pnpm, root, runProgram } from './programs.mjs';

const STAMP = join(root, 'node_modules/.animal-store-installed');
const LOCK = join(root, 'node_modules/.animal-store-installing');

/** Age of a lock that is ignored, in milliseconds: its process id may belong to another process by now. */
const LOCK_LIFETIME = 10 * 60_000;

/** Without a network npm and pnpm would be silent for minutes, because their retries wait up to 60 s by default. */
const SHORT_RETRIES = {
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_retry_maxtimeout: '5000',
  pnpm_config_fetch_retry_mintimeout: '1000',
  pnpm_config_fetch_retry_maxtimeout: '5000',
};

/**
 * Installs the dependencies unless those of the lockfile are installed. The stamp is written last: an interrupted
 * installation leaves none and is repeated by the next call.
 */
export async function ensureInstalled() {
  if (isInstalled()) return;
  try {
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    await acquireLock();
  } catch (error) {
    console.error(`animal-store: the dependencies can't be installed: ${error.message}`);
    process.exit(1);
  }
  process.on('exit', releaseLock);
  // Another process may have installed meanwhile.
  if (!isInstalled()) await install();
  releaseLock();
}

async function install() {
  const first = existsSync(join(root, 'node_modules/.modules.yaml')) ? '' : ' (first run, usually less than a minute)';
  console.error(`animal-store: installing dependencies…${first}`);
  rmSync(STAMP, { force: true });
  // --trust-lockfile: to check the repository's own lockfile against the registry would triple the time.
  const program = pnpm('pnpm', 'install', '--frozen-lockfile', '--trust-lockfile', '--prefer-offline', '--yes');
  // The PATH of this process: the programs of node_modules are being installed.
  const result = await runProgram(program, { env: { ...SHORT_RETRIES, ...process.env }, capture: true });
  const code = exitCodeOf(result);
  if (code !== 0) {
    const reason = interrupted() ? 'interrupted' : `exit code ${code}, the reason is above`;
    if (!interrupted()) process.stderr.write(result.output);
    console.error(`animal-store: the dependencies are not installed (${reason})`);
    process.exit(code);
  }
  writeFileSync(STAMP, fingerprint());
}

const isInstalled = () => read(STAMP) === fingerprint();

/** A digest of the files that decide what is installed. */
function fingerprint() {
  const manifests = ['apps', 'packages', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .sort()
      .map((name) => `${folder}/${name}/package.json`),
  );
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...manifests]) {
    hash.update(`\0${file}\0${read(join(root, file)) ?? ''}`);
  }
  return hash.digest('hex');
}

/** Waits until no other process installs here. */
async function acquireLock() {
  for (let waiting = false; ; waiting = true) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isHeld()) {
      // Its process has ended. Two processes may remove the lock at the same time; one of them creates the next.
      rmSync(LOCK, { force: true });
      await sleep(Math.random() * 200);
      continue;
    }
    if (!waiting) console.error('animal-store: waiting for another installation to finish…');
    await sleep(200);
  }
}

function isHeld() {
  try {
    if (Date.now() - statSync(LOCK).mtimeMs > LOCK_LIFETIME) return false;
    process.kill(Number(read(LOCK)), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function releaseLock() {
  if (read(LOCK) === String(process.pid)) rmSync(LOCK, { force: true });
}

/** The text of a file, or null if it can't be read. */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
