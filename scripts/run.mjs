// Sets the workspace up, then runs a script with the Node.js of the workspace. npm's scripts start with it, because npm runs no
// `pre` scripts under `ignore-scripts`, and because the machine's own Node.js may be too old for anything but set-up.
//
//   node scripts/run.mjs [--production | --proof] <script> [arguments …]
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setUp } from './lib/set-up.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [first, ...rest] = process.argv.slice(2);
const tier = first === '--production' ? 'production' : first === '--proof' ? 'proof' : 'tests';
const [script = '', ...args] = tier === 'tests' ? [first ?? '', ...rest] : rest;

try {
  runScript(await setUp(root, tier), [join(root, script), ...args]);
} catch (error) {
  console.error(`Set-up failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode ??= 1;
}

/**
 * Runs the script in this process if that is the workspace's Node.js. Otherwise replaces this process where Node.js can, else runs the
 * script as a child and forwards signals to it.
 *
 * @param {string} node
 * @param {string[]} args
 */
function runScript(node, args) {
  if (node === process.execPath && process.execArgv.length === 0) {
    process.argv = [node, ...args];
    void import(pathToFileURL(args[0] ?? '').href);
    return;
  }
  if (process.platform !== 'win32' && typeof process.execve === 'function') {
    process.execve(node, [node, ...args], process.env);
  }
  const child = spawn(node, args, { stdio: 'inherit' });
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(name, () => child.kill(name));
  child.on('error', (error) => {
    console.error(`${node} could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}
