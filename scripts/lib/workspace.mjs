import fs from 'node:fs'; // not by name: an older Node.js lacks globSync, and is to get as far as saying that it is too old
import { dirname, relative, resolve, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** The folder that holds the whole workspace. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Files below the root that fit the patterns, as sorted paths from it with `/`. What others have installed is left out.
 *
 * @param {string[]} patterns
 * @param {string} [cwd]
 */
export function findFiles(patterns, cwd = root) {
  return fs
    .globSync(patterns, { cwd, exclude: (path) => path.split(/[/\\]/).includes('node_modules') })
    .map((path) => path.replaceAll(sep, '/'))
    .sort();
}

/**
 * Keeps the files that lie at or below one of the places that a person named on the command line.
 *
 * @param {string[]} files as `findFiles` gives them
 * @param {string[]} places files or folders, as seen from where the person stands
 * @returns {string[]} ends the process with a message for a place where none of the files is
 */
export function narrow(files, places) {
  if (places.length === 0) return files;
  // npm runs scripts in the root, wherever it was called.
  const standsIn = process.env.INIT_CWD ?? process.cwd();
  const chosen = new Set();
  for (const place of places) {
    const found = [resolve(standsIn, place), resolve(root, place)]
      .map((path) => relative(root, path).replaceAll(sep, '/'))
      .map((path) => files.filter((file) => path === '' || file === path || file.startsWith(`${path}/`)))
      .find((matches) => matches.length > 0);
    if (found === undefined) {
      console.error(`Cannot run ${place}: there is nothing to run there.`);
      process.exit(1);
    }
    for (const file of found) chosen.add(file);
  }
  return files.filter((file) => chosen.has(file));
}
