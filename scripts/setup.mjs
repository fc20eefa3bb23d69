// Installs what the workspace needs, and says so; does nothing when nothing has changed since the last time.
//
//   node scripts/setup.mjs                everything, for tests and checks
//   node scripts/setup.mjs --production   only what `npm start` needs
//
// Runs on whatever Node the machine has (20 or later); what it installs brings the Node that the rest runs on.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const stampFile = join(root, 'node_modules', '.tenon-setup.json');
const production = process.argv.includes('--production');

const wanted = fingerprint();
const found = readStamp();
const upToDate = found !== undefined && found.fingerprint === wanted && (production || !found.production);

if (!upToDate) {
  await install();
  writeFileSync(stampFile, `${JSON.stringify({ fingerprint: wanted, production }, null, 2)}\n`);
}

/** What the installed tree depends on: the lock file and the machine's kind. */
function fingerprint() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex');
}

/** @returns {{ fingerprint: string, production: boolean } | undefined} */
function readStamp() {
  if (!existsSync(stampFile)) return undefined;
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @returns {Promise<void>} */
function install() {
  console.error(
    production
      ? 'Setting up: installing what the server needs (about 250 MB, Node itself included; once) …'
      : 'Setting up: installing what tests and checks need (about 600 MB, Node itself included; once) …',
  );
  const started = Date.now();
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...(production ? ['--omit=dev'] : [])];
  const npm = process.env.npm_execpath;
  const child = npm
    ? spawn(process.execPath, [npm, ...args], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    : spawn('npm', args, {
        cwd: root,
        stdio: ['ignore', 'ignore', 'inherit'],
        shell: process.platform === 'win32',
      });
  return new Promise((resolve) => {
    child.on('error', (error) => fail(`npm could not be started: ${error.message}`));
    child.on('exit', (code) => {
      if (code !== 0) fail(`npm ${args.join(' ')} ended with ${code}; its messages stand above`);
      console.error(`Set up in ${Math.round((Date.now() - started) / 1000)} s.`);
      resolve();
    });
  });
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(`Set-up failed: ${message}.`);
  process.exit(1);
}
