// Installs what the workspace needs, builds what the server sends, and says so; does nothing when nothing has changed since the last
// time. Runs on whatever Node.js the machine has (20 or later).
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { takeLock } from './folder-lock.mjs';
import { forgetInstalled, installedState } from './installed.mjs';
import { isBuilt, keptBuilds } from './kept-build.mjs';
import { workspaceNode } from './workspace-node.mjs';

/**
 * How much is installed. `production`: what `npm start` needs. `tests`: what `npm test` and the other commands need, too.
 * `proof`: also what only `npm run proof` needs, which has manifests and lock files of its own.
 *
 * @typedef {'production' | 'tests' | 'proof'} Tier
 */

/** Each tier's part in megabytes: what it takes on disk, and what npm needs for a moment. */
const sizes = { production: [310, 460], tests: [620, 920], proof: [1190, 1700] };

/** The folders with what only `npm run proof` needs. */
const proofFolders = ['test/proof', 'packages/instrument/corpus'];

/**
 * Sets the workspace up.
 *
 * @param {string} root
 * @param {Tier} tier
 * @returns {Promise<string>} the path of the Node.js that the workspace runs on
 * @throws {Error} with a message for people; `process.exitCode` is set when a signal ended it
 */
export async function setUp(root, tier) {
  if (!isInstalled(root, tier)) await installLocked(root, tier);
  const node = workspaceNode(root);
  for (const build of keptBuilds) if (!isBuilt(root, build)) await makeBuild(root, node, build);
  return node;
}

/**
 * @param {string} root
 * @param {Tier} tier
 */
function isInstalled(root, tier) {
  const state = installedState(root);
  if (tier === 'production') return state !== 'incomplete';
  return state === 'everything' && (tier === 'tests' || missingProofFolders(root).length === 0);
}

/** @param {string} root */
function missingProofFolders(root) {
  return proofFolders
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(join(folder, 'package-lock.json')) && installedState(folder) !== 'everything');
}

/**
 * @param {string} root
 * @param {Tier} tier
 */
async function installLocked(root, tier) {
  const unlock = await takeLock(join(root, '.setup.lock'), {
    onWait: (holder) => console.error(`Another set-up is running here (process ${holder}): waiting for it …`),
  }).catch((error) => {
    throw new Error(`cannot write to ${root} (${error.code ?? error.message}).`);
  });
  try {
    if (isInstalled(root, tier)) return;
    const purpose = { production: 'the server needs', tests: 'tests and checks need', proof: '`npm run proof` needs' }[
      tier
    ];
    console.error(
      `Setting up: installing what ${purpose} (about ${sizes[tier][0]} MB, Node.js itself included; once) …`,
    );
    const startedMs = Date.now();
    if (!isInstalled(root, tier === 'proof' ? 'tests' : tier)) await installRoot(root, tier);
    if (tier === 'proof') for (const folder of missingProofFolders(root)) await npm(root, folder, ['ci'], tier);
    console.error(`Set up in ${Math.round((Date.now() - startedMs) / 1000)} s.`);
  } finally {
    unlock();
  }
}

/**
 * What `npm start` installed stays in place when the rest is added, so that a server that runs from it goes on running.
 * In every other case what is there may be half a package, and `ci` deletes it.
 *
 * @param {string} root
 * @param {Tier} tier
 */
async function installRoot(root, tier) {
  const how = installedState(root) === 'production' ? ['install', '--no-save'] : ['ci'];
  forgetInstalled(root);
  await npm(root, root, tier === 'production' ? [...how, '--omit=dev'] : how, tier);
}

/**
 * @param {string} root
 * @param {string} folder
 * @param {string[]} command
 * @param {Tier} tier
 */
async function npm(root, folder, command, tier) {
  const args = [...command, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npmScript = process.env.npm_execpath;
  const code =
    npmScript?.endsWith('.js') === true // another package manager's may be anything
      ? await run(folder, process.execPath, [npmScript, ...args], false)
      : await run(folder, 'npm', args, process.platform === 'win32');
  if (code === 0) return;
  throw new Error(
    `\`npm ${args.join(' ')}\` failed with exit code ${code}; see its messages above. Set-up needs the package registry ` +
      `(npm config get registry) and about ${sizes[tier][1]} MB in ${root}. The next run starts again.`,
  );
}

/**
 * Builds what the server sends: a few seconds, once for each change of its sources.
 *
 * @param {string} root
 * @param {string} node
 * @param {import('./kept-build.mjs').KeptBuild} build
 */
async function makeBuild(root, node, { name, script }) {
  console.error(`Building the ${name} …`);
  const startedMs = Date.now();
  const code = await run(root, node, [join(root, script)], false);
  if (code !== 0) throw new Error(`the ${name} could not be built; see the messages above. The next run tries again.`);
  console.error(`Built in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`);
}

/**
 * Runs a program to its end, and forwards signals to it.
 *
 * @param {string} cwd
 * @param {string} command
 * @param {string[]} args
 * @param {boolean} shell
 * @returns {Promise<number | null>} its exit code; rejects when a signal ended it
 */
async function run(cwd, command, args, shell) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell });
  const names = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  /** @type {NodeJS.Signals | null} */
  let received = null;
  /** @param {NodeJS.Signals} name */
  const forward = (name) => {
    received = name;
    child.kill(name);
  };
  for (const name of names) process.on(name, forward);
  try {
    /** @type {{ code: number | null, signal: NodeJS.Signals | null }} */
    const { code, signal } = await new Promise((resolve, reject) => {
      child.on('error', (error) => reject(new Error(`${command} could not be started: ${error.message}.`)));
      child.on('close', (code, signal) => resolve({ code, signal: signal ?? (code === 0 ? null : received) }));
    });
    if (signal !== null) {
      process.exitCode = 128 + constants.signals[signal];
      throw new Error(`it was interrupted (${signal}). The next run starts again.`);
    }
    return code;
  } finally {
    for (const name of names) process.off(name, forward);
  }
}
