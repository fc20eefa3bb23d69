// What of the lock file is installed. npm writes a list of what it has put into node_modules when it has finished. The two lists are
// compared, and each package's folder must exist, so that nothing is installed twice and half an installation is repaired.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** @typedef {Record<string, string>} Needs */
/** @typedef {{ version?: string, integrity?: string, resolved?: string, link?: boolean, dev?: boolean, optional?: boolean,
 *   devOptional?: boolean, os?: string | string[], cpu?: string | string[], libc?: string | string[],
 *   dependencies?: Needs, devDependencies?: Needs, optionalDependencies?: Needs, peerDependencies?: Needs }} LockEntry */
/** @typedef {{ os: string, cpu: string, libc: string | undefined }} Platform */

/**
 * Compares the lock file with what npm says it has installed.
 *
 * @param {string} root
 * @param {Platform} [platform]
 * @returns {'everything' | 'production' | 'incomplete'} `production`: all but development dependencies is there
 */
export function installedState(root, platform = thisPlatform()) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return 'incomplete';
  const locked = readPackages(join(root, 'package-lock.json'));
  if (locked === undefined) throw new Error(`${join(root, 'package-lock.json')} is missing or not JSON`);
  /** @type {'everything' | 'production'} */
  let state = 'everything';
  const needed = namesNeeded(locked, platform);
  for (const [path, entry] of locked) {
    // Of a link to a folder of ours, what it is needed for stands with the folder.
    const wanted = entry.link === true ? { ...locked.get(entry.resolved ?? ''), ...entry } : entry;
    if (!path.includes('node_modules/') || !fits(wanted, platform)) continue;
    if (wanted.optional === true && !needed.has(nameOf(path))) continue;
    const found = installed.get(path);
    const same = found?.version === entry.version && found?.integrity === entry.integrity && found?.link === entry.link;
    if (same && existsSync(join(root, path, 'package.json'))) continue;
    if (wanted.dev !== true && wanted.devOptional !== true) return 'incomplete';
    state = 'production';
  }
  return state;
}

/**
 * Makes an installation that ends half-way look like one: until npm has finished, nothing counts as installed.
 *
 * @param {string} root
 */
export function forgetInstalled(root) {
  rmSync(join(root, 'node_modules', '.package-lock.json'), { force: true });
}

/**
 * @param {string} file
 * @returns {Map<string, LockEntry> | undefined} `undefined` when it is missing or was cut short
 */
function readPackages(file) {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages));
  } catch {
    return undefined;
  }
}

/**
 * The names of all packages that something needs which is installed on a machine of this kind. What only a package for other
 * machines needs is marked as optional in the lock file, and says nothing itself of where it belongs.
 *
 * @param {ReadonlyMap<string, LockEntry>} locked
 * @param {Platform} platform
 */
function namesNeeded(locked, platform) {
  /** @type {Map<string, LockEntry[]>} */
  const byName = new Map();
  for (const [path, entry] of locked) byName.set(nameOf(path), [...(byName.get(nameOf(path)) ?? []), entry]);
  const needed = new Set();
  // The root and the folders of ours are where it begins.
  const open = [...locked].filter(([path]) => !path.includes('node_modules/')).map(([, entry]) => entry);
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = entry;
    for (const name of Object.keys({
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
      ...peerDependencies,
    })) {
      if (needed.has(name)) continue;
      needed.add(name);
      open.push(...(byName.get(name) ?? []).filter((found) => fits(found, platform)));
    }
  }
  return needed;
}

/** @param {string} path in node_modules */
function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/**
 * Whether npm installs a package on a machine of this kind, by the rule of package.json's `os`, `cpu` and `libc`.
 *
 * @param {LockEntry} entry
 * @param {Platform} platform
 */
function fits(entry, platform) {
  return listed(entry.os, platform.os) && listed(entry.cpu, platform.cpu) && listed(entry.libc, platform.libc);
}

/**
 * @param {string | string[] | undefined} list
 * @param {string | undefined} value
 */
function listed(list, value) {
  if (list === undefined || list === 'any') return true;
  const names = Array.isArray(list) ? list : [list];
  if (names.includes(`!${value}`)) return false;
  const wanted = names.filter((name) => !name.startsWith('!'));
  return wanted.length === 0 || (value !== undefined && wanted.includes(value));
}

/** @returns {Platform} */
function thisPlatform() {
  const platform = { os: process.platform, cpu: process.arch };
  if (process.platform !== 'linux') return { ...platform, libc: undefined };
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (process.report?.getReport() ?? {});
  return { ...platform, libc: report.header?.glibcVersionRuntime === undefined ? 'musl' : 'glibc' };
}
