import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodeOf, interrupted, pnpm, root, runProgram } from './programs.mjs';
import { workspaces } from './workspaces.mjs';

const STAMP = join(root, 'node_modules/.animal-store-installed');
const LOCK = join(root, 'node_modules/.animal-store-installing');

/** After this time, in milliseconds, a lock says nothing any more: the process with its id may be another. */
const LOCK_LIFETIME = 10 * 60_000;

/** Without a network npm and pnpm would wait for minutes, silently, before they say so: by default up to 60 s a retry. */
const IMPATIENT = {
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_retry_maxtimeout: '5000',
  pnpm_config_fetch_retry_mintimeout: '1000',
  pnpm_config_fetch_retry_maxtimeout: '5000',
};

/**
 * Installs the dependencies where they are not, or not those of the lockfile. The stamp is written last: an
 * installation that was cut off leaves none, and the next call does it again.
 */
export async function ensureInstalled() {
  if (isInstalled()) return;
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  await acquireLock();
  process.on('exit', releaseLock);
  try {
    // Another process may have done it meanwhile.
    if (!isInstalled()) await install();
  } finally {
    process.off('exit', releaseLock);
    releaseLock();
  }
}

async function install() {
  const first = existsSync(join(root, 'node_modules/.modules.yaml')) ? '' : ' (first run, usually less than a minute)';
  console.error(`animal-store: installing dependencies…${first}`);
  rmSync(STAMP, { force: true });
  // The lockfile is the repository's own: to check it against the registry again would triple the time.
  const program = pnpm('pnpm', 'install', '--frozen-lockfile', '--trust-lockfile', '--prefer-offline', '--yes');
  const result = await runProgram(program, { env: { ...IMPATIENT, ...process.env }, capture: true });
  const code = exitCodeOf(result);
  if (code !== 0) {
    const reason = interrupted() ? 'interrupted' : `exit code ${code}, the reason is above`;
    if (!interrupted()) process.stderr.write(result.output);
    console.error(`animal-store: the dependencies are not installed (${reason})`);
    process.exit(code);
  }
  writeFileSync(STAMP, fingerprint());
}

function isInstalled() {
  return read(STAMP) === fingerprint();
}

/** Changes whenever something else would be installed. */
function fingerprint() {
  const manifests = workspaces().map((workspace) => `${workspace}/package.json`);
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
      // Its owner was killed. Two processes may see that at once: both remove it, one of them creates the next.
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

/** A file's text, or null where there is none. */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
