// What the console was last built from, and whether that is what there is now. A build lies in a folder named by its sources,
// and a file says which folder counts: a server that is starting reads one build or the other, never half of each.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The file in the folder of builds that names the one that counts. */
export const currentFile = 'current';

/** Where builds of the console lie. @param {string} root */
export function consoleBuilds(root) {
  return join(root, 'packages', 'console', 'dist');
}

/** Everything that a build is made from: the console, the packages that it may import, and the versions of everybody else's. */
const sources = [
  ...['index.html', 'package.json', 'public', 'vite.config.ts', 'src'].map((name) => `packages/console/${name}`),
  ...['protocol', 'extension-schema', 'instrument', 'trace', 'run-kit'].flatMap((name) => [
    `packages/${name}/package.json`,
    `packages/${name}/src`,
  ]),
  'package-lock.json',
  'scripts/build-console.mjs',
  'scripts/lib/console-build.mjs',
];

/**
 * A name for what a build of the present sources is.
 *
 * @param {string} root
 * @returns {string | undefined} `undefined` where there is no console to build
 */
export function consoleStamp(root) {
  if (!existsSync(join(root, 'packages', 'console', 'package.json'))) return undefined;
  const hash = createHash('sha256');
  for (const file of sources.flatMap((source) => filesAt(root, source))) {
    if (/\.(?:test|proof)\.ts$/.test(file)) continue;
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 20);
}

/**
 * The file, or those below the folder, as sorted paths from the root. (Set-up runs on Node.js 20 too, which has no `globSync`.)
 *
 * @param {string} root
 * @param {string} path
 * @returns {string[]}
 */
function filesAt(root, path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (stats.isFile()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesAt(root, `${path}/${name}`));
}

/**
 * Whether the build that counts is one of the present sources; true where there is nothing to build.
 *
 * @param {string} root
 */
export function isConsoleBuilt(root) {
  const stamp = consoleStamp(root);
  return stamp === undefined || currentBuild(root) === stamp;
}

/**
 * The name of the build that counts, if there is one.
 *
 * @param {string} root
 */
export function currentBuild(root) {
  try {
    const name = readFileSync(join(consoleBuilds(root), currentFile), 'utf8').trim();
    return existsSync(join(consoleBuilds(root), name, 'index.html')) ? name : undefined;
  } catch {
    return undefined;
  }
}
