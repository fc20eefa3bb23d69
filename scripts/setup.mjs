// Installs what the workspace needs and builds the console, and says so; does nothing when nothing has changed since the last
// time.
//
//   node scripts/setup.mjs                everything, for tests and checks
//   node scripts/setup.mjs --production   only what `npm start` needs
//
// Runs on whatever Node the machine has (20 or later); what it installs brings the Node that the rest runs on.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isConsoleBuilt } from './lib/console-build.mjs';
import { takeLock } from './lib/folder-lock.mjs';
import { forgetInstalled, installedState } from './lib/installed.mjs';
import { isNodeTooOld, oldestNode } from './lib/node-version.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const production = process.argv.includes('--production');

try {
  if (!isSetUp()) await setUp();
  if (!isConsoleBuilt(root)) await buildConsole();
} catch (error) {
  console.error(`Set-up failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode ??= 1;
}

function isSetUp() {
  const state = installedState(root);
  return state === 'everything' || (production && state === 'production');
}

async function setUp() {
  const unlock = await takeLock(join(root, '.setup.lock'), {
    onWait: (holder) => console.error(`Another set-up is running here (process ${holder}): waiting for it …`),
  }).catch((error) => {
    throw new Error(`cannot write to ${root} (${error.code ?? error.message}).`);
  });
  try {
    if (isSetUp()) return;
    await install();
    checkNode();
  } finally {
    unlock();
  }
}

async function install() {
  console.error(
    production
      ? 'Setting up: installing what the server needs (about 310 MB, Node itself included; once) …'
      : 'Setting up: installing what tests and checks need (about 1,170 MB, Node itself included; once) …',
  );
  const startedMs = Date.now();
  // What `npm start` installed stays in place when the rest is added, so that a server that runs from it goes on running.
  // In every other case what is there may be half a package, and `ci` clears it away.
  const how = installedState(root) === 'production' ? ['install', '--no-save'] : ['ci'];
  forgetInstalled(root);
  const args = [...how, '--no-audit', '--no-fund', '--loglevel=error'];
  if (production) args.push('--omit=dev');
  const code = await runNpm(args);
  if (code !== 0) {
    throw new Error(
      `\`npm ${args.join(' ')}\` ended with ${code}; its messages stand above. Set-up needs the package registry ` +
        `(npm config get registry) and about ${production ? 460 : 1620} MB in ${root}. The next run begins again.`,
    );
  }
  console.error(`Set up in ${Math.round((Date.now() - startedMs) / 1000)} s.`);
}

/** Makes the pages that the server serves out of their sources: two seconds, once for each change. */
async function buildConsole() {
  console.error('Building the console …');
  const startedMs = Date.now();
  const shell = process.platform === 'win32';
  const brought = broughtNode();
  const script = join(root, 'scripts', 'build-console.mjs');
  const code = existsSync(brought) ? await run(brought, [script], shell) : await run(process.execPath, [script], false);
  if (code !== 0) throw new Error('the console could not be built; why stands above. The next run tries again.');
  console.error(`Built in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`);
}

/**
 * Runs the npm that runs this script.
 *
 * @param {string[]} args
 */
function runNpm(args) {
  const npm = process.env.npm_execpath;
  const isOurs = npm?.endsWith('.js') === true; // another package manager's may be anything
  if (npm !== undefined && isOurs) return run(process.execPath, [npm, ...args], false);
  return run('npm', args, process.platform === 'win32');
}

/**
 * Runs a program to its end, and hands signals on to it.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {boolean} shell
 * @returns {Promise<number | null>} what it ended with; rejects when a signal ended it
 */
async function run(command, args, shell) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell });
  /** @type {NodeJS.Signals | null} */
  let received = null;
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(name, () => {
      received = name;
      child.kill(name);
    });
  }
  /** @type {{ code: number | null, signal: NodeJS.Signals | null }} */
  const { code, signal } = await new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`${command} could not be started: ${error.message}.`)));
    child.on('close', (code, signal) => resolve({ code, signal: signal ?? (code === 0 ? null : received) }));
  });
  if (signal !== null) {
    process.exitCode = 128 + constants.signals[signal];
    throw new Error(`it was interrupted (${signal}). The next run begins again.`);
  }
  return code;
}

function broughtNode() {
  return join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
}

/**
 * The Node from the registry is an optional dependency: there is none for some machines, and the one for Linux needs glibc.
 * There the machine's own has to do.
 */
function checkNode() {
  const shim = broughtNode();
  const brought = existsSync(shim)
    ? spawnSync(shim, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' })
    : undefined;
  if (brought?.status === 0) return;
  if (brought !== undefined) {
    for (const ending of ['', '.cmd', '.ps1']) rmSync(join(dirname(shim), `node${ending}`), { force: true });
  }
  if (!isNodeTooOld()) return;
  throw new Error(
    `the package registry has no Node.js for this machine (${process.platform}, ${process.arch}), and the one that is ` +
      `installed here is ${process.version}. Install Node.js ${oldestNode} or later, then run this again.`,
  );
}
