// What set-up builds for the server, and whether that is built from the present sources. A build lies in a folder named by its sources, and
// a file says which folder counts: a server that is starting reads one build or the other, never half of each.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The file in the folder of builds that names the one that counts. */
export const currentFile = 'current';

/**
 * Paths are from the root. Without `needs`, there is nothing to build. A build with `mark` is complete.
 *
 * @typedef {{ name: string, script: string, folder: string, needs: string, mark: string, sources: readonly string[] }} KeptBuild
 */

/** @param {string[]} names */
const packages = (...names) =>
  names.flatMap((name) => ['package.json', 'src'].map((part) => `packages/${name}/${part}`));

/** Everything that a build is made with: the versions of everybody else's packages, and this. */
const tools = ['package-lock.json', 'scripts/lib/keep-build.mjs', 'scripts/lib/kept-build.mjs'];

/** The console's pages. @type {KeptBuild} */
export const consoleBuild = {
  name: 'console',
  script: 'scripts/build-console.mjs',
  folder: 'packages/console/dist',
  needs: 'packages/console/package.json',
  mark: 'index.html',
  sources: [
    ...['index.html', 'public', 'vite.config.ts'].map((name) => `packages/console/${name}`),
    ...packages('console', 'protocol', 'extension-schema', 'instrument', 'trace', 'run-kit'),
    ...['scripts/build-console.mjs', ...tools],
  ],
};

/** The packages that the server offers. @type {KeptBuild} */
export const packagesBuild = {
  name: 'packages',
  script: 'scripts/build-packages.mjs',
  folder: 'packages/server/dist',
  needs: 'packages/cli/package.json',
  mark: 'packages.json',
  sources: [
    ...packages('cli', 'client', 'protocol', 'extension-schema', 'instrument', 'trace', 'run-kit'),
    ...['packages/cli/bin', 'packages/cli/templates', 'LICENSE'],
    ...['cli', 'client', 'instrument', 'trace'].map((name) => `packages/${name}/README.md`),
    ...['scripts/build-packages.mjs', ...tools],
    ...['archive', 'cli-package', 'library-package', 'publish'].map((name) => `scripts/lib/${name}.mjs`),
  ],
};

/** The documentation that the server shows. @type {KeptBuild} */
export const docsBuild = {
  name: 'documentation',
  script: 'scripts/build-docs.mjs',
  folder: 'packages/server/docs',
  needs: 'docs/README.md',
  mark: 'docs.json',
  sources: [
    ...[
      'docs',
      'README.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'examples/extism-host/README.md',
      'examples/web-host/README.md',
    ],
    ...['src/docs', 'src/state/theme.ts', 'src/styles/tokens.css', 'src/styles/base.css', 'vite.config.ts'].map(
      (name) => `packages/console/${name}`,
    ),
    ...['scripts/build-docs.mjs', 'scripts/lib/docs-pages.mjs', 'scripts/lib/markdown.mjs', ...tools],
  ],
};

export const keptBuilds = [consoleBuild, packagesBuild, docsBuild];

/**
 * A name for what a build of the present sources is.
 *
 * @param {string} root
 * @param {KeptBuild} build
 * @returns {string | undefined} `undefined` where there is nothing to build
 */
export function stampOf(root, { needs, sources }) {
  if (!existsSync(join(root, needs))) return undefined;
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
 * @param {KeptBuild} build
 */
export function isBuilt(root, build) {
  const stamp = stampOf(root, build);
  return stamp === undefined || currentBuild(root, build) === stamp;
}

/**
 * The name of the build that counts, if there is one.
 *
 * @param {string} root
 * @param {KeptBuild} build
 */
export function currentBuild(root, { folder, mark }) {
  try {
    const name = readFileSync(join(root, folder, currentFile), 'utf8').trim();
    return existsSync(join(root, folder, name, mark)) ? name : undefined;
  } catch {
    return undefined;
  }
}
