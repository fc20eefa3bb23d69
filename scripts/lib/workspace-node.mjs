// The Node.js that everything runs on: the registry's, which comes as an optional dependency, else the machine's own where it is
// new enough. Found by its path: npm 10 installs the package and links no command for it.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { isNodeTooOld, oldestNode } from './node-version.mjs';

/**
 * Finds the Node.js of the workspace, and links it as `node_modules/.bin/node`, where npm's scripts and `npx` find it first.
 *
 * @param {string} root
 * @returns {string} the path of the executable
 * @throws {Error} when the machine's own is too old and the registry's is missing or does not run; the message says which
 */
export function workspaceNode(root) {
  const installed = installedNode(root);
  const link = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
  if (installed !== undefined && isLinked(link, installed)) return installed;
  const fault = installed === undefined ? undefined : whyItDoesNotRun(installed);
  if (installed !== undefined && fault === undefined) {
    linkNode(link, installed);
    return installed;
  }
  for (const ending of ['', '.cmd', '.ps1']) rmSync(join(dirname(link), `node${ending}`), { force: true });
  if (!isNodeTooOld()) return process.execPath;
  const reason =
    fault === undefined
      ? `the package registry has no Node.js for this machine (${process.platform}, ${process.arch})`
      : `the Node.js from the package registry does not run on this machine (${fault})`;
  throw new Error(
    `${reason}, and the machine's own is ${process.version}. Install Node.js ${oldestNode} or later, then run this again.`,
  );
}

/**
 * The executable in the package for this machine.
 *
 * @param {string} root
 * @returns {string | undefined} `undefined` when no such package is installed
 */
function installedNode(root) {
  /** @type {{ optionalDependencies?: Record<string, string> }} */
  const { optionalDependencies = {} } = readJson(join(root, 'package.json'));
  for (const name of Object.keys(optionalDependencies)) {
    const folder = join(root, 'node_modules', name);
    if (!existsSync(join(folder, 'package.json'))) continue;
    /** @type {{ bin?: { node?: string }, os?: string | string[], cpu?: string | string[] }} */
    const { bin, os, cpu } = readJson(join(folder, 'package.json'));
    const fits = [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
    if (fits && bin?.node !== undefined) return join(folder, bin.node);
  }
  return undefined;
}

/**
 * @param {string} link
 * @param {string} executable
 */
function isLinked(link, executable) {
  try {
    if (process.platform === 'win32') return existsSync(link) && existsSync(executable);
    return lstatSync(link).isSymbolicLink() && readlinkSync(link) === relative(dirname(link), executable);
  } catch {
    return false;
  }
}

/**
 * @param {string} link
 * @param {string} executable
 */
function linkNode(link, executable) {
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  if (process.platform === 'win32') writeFileSync(link, `@"%~dp0\\${relative(dirname(link), executable)}" %*\r\n`);
  else symlinkSync(relative(dirname(link), executable), link);
}

/**
 * @param {string} executable
 * @returns {string | undefined} `undefined` when it runs
 */
function whyItDoesNotRun(executable) {
  const { status, stderr, error } = spawnSync(executable, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error?.message ?? (stderr.trim().split('\n')[0] || `exit code ${status}`);
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
