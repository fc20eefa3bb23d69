// Makes the folder that a server runs from, as an installation has it: sources, built pages and packages, dependencies, no tools or tests.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { currentBuild, currentFile, keptBuilds } from './kept-build.mjs';
import { findFiles, root } from './workspace.mjs';

/** What only development needs of a package. */
const leftOut = new Set(['test', 'bench', 'corpus', 'dist', 'node_modules']);

/** What no program reads of dependencies. */
const unread = /\.(?:map|d\.[cm]?ts)$/;

/**
 * Makes the tree in an empty folder. Installs the server's dependencies as the lock file has them, without optional ones.
 *
 * @param {string} folder
 * @throws {Error} if npm fails, or something is not built
 */
export function makeInstalledTree(folder) {
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'LICENSE']) copy(file, folder);
  for (const file of findFiles(['packages/*/package.json', 'examples/*/package.json', 'test/*/package.json']))
    copy(file, folder);
  installDependencies(folder);
  const workspaces = readdirSync(join(folder, 'node_modules', '@tenon')).map((name) => `packages/${name}`);
  for (const name of readdirSync(join(folder, 'packages'))) {
    const path = `packages/${name}`;
    if (!workspaces.includes(path)) rmSync(join(folder, path), { recursive: true });
    else copyPackage(path, folder);
  }
  for (const build of keptBuilds) copyBuild(build, folder);
  for (const file of [
    'package-lock.json',
    '.npmrc',
    'examples',
    'test',
    'node_modules/.package-lock.json',
    'node_modules/.bin',
  ]) {
    rmSync(join(folder, file), { recursive: true, force: true });
  }
  mkdirSync(join(folder, 'node_modules', '.bin'));
  const node = realpathSync(process.execPath);
  copyFileSync(node, join(folder, 'node_modules', '.bin', 'node'));
  const license = join(dirname(dirname(node)), 'LICENSE');
  if (existsSync(license)) copyFileSync(license, join(folder, 'node_modules', '.bin', 'LICENSE'));
  for (const { path, entry } of entriesBelow(folder)) {
    if (entry.isFile() && unread.test(path) && path.includes('node_modules')) rmSync(path);
  }
}

/**
 * Lists everything below a folder. `readdirSync()` with `recursive` would follow links to folders.
 *
 * @param {string} folder
 * @returns {Generator<{ path: string, entry: import('node:fs').Dirent }>}
 */
export function* entriesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    yield { path, entry };
    if (entry.isDirectory()) yield* entriesBelow(path);
  }
}

/** @param {string} folder */
function installDependencies(folder) {
  const args = [
    'ci',
    '--omit=dev',
    '--omit=optional',
    '--omit=peer',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const npmScript = process.env.npm_execpath;
  const [program, first] = npmScript?.endsWith('.js') === true ? [process.execPath, [npmScript]] : ['npm', []];
  const { status, error } = spawnSync(program, [...first, ...args, '--workspace', 'packages/cli'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0)
    throw new Error(`\`npm ${args.join(' ')}\` failed${error === undefined ? '' : `: ${error.message}`}`);
}

/**
 * @param {string} file
 * @param {string} folder
 */
function copy(file, folder) {
  mkdirSync(join(folder, file, '..'), { recursive: true });
  copyFileSync(join(root, file), join(folder, file));
}

/**
 * @param {string} path
 * @param {string} folder
 */
function copyPackage(path, folder) {
  const builds = keptBuilds.map((build) => build.folder);
  for (const name of readdirSync(join(root, path))) {
    if (leftOut.has(name) || builds.includes(`${path}/${name}`)) continue;
    cpSync(join(root, path, name), join(folder, path, name), {
      recursive: true,
      filter: (source) => !/\.(?:test|proof)\.ts$/.test(source) && !basename(source).startsWith('.'),
    });
  }
}

/**
 * @param {import('./kept-build.mjs').KeptBuild} build
 * @param {string} folder
 */
function copyBuild(build, folder) {
  const name = currentBuild(root, build);
  if (name === undefined) throw new Error(`the ${build.name} is not built: run npm run setup`);
  for (const each of [name, currentFile]) {
    cpSync(join(root, build.folder, each), join(folder, build.folder, each), { recursive: true });
  }
}
