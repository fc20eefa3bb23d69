import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import { takeLock } from './folder-lock.mjs';
import { currentBuild, currentFile, isBuilt, stampOf } from './kept-build.mjs';
import { root } from './workspace.mjs';

/**
 * Makes a build, unless there is one of the present sources. Then it counts, as a whole. Sets the exit code, with a message for people.
 *
 * @param {import('./kept-build.mjs').KeptBuild} build
 * @param {(folder: string) => Promise<void>} make makes the build in an empty folder
 */
export async function keepBuild(build, make) {
  const builds = join(root, build.folder);
  mkdirSync(builds, { recursive: true });
  const unlock = await takeLock(join(builds, '.lock'));
  try {
    if (!isBuilt(root, build)) await replaceBuild(build, builds, make);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(process.stderr.isTTY ? message : stripVTControlCharacters(message));
    process.exitCode = 1;
  } finally {
    unlock();
  }
}

/**
 * @param {import('./kept-build.mjs').KeptBuild} build
 * @param {string} builds
 * @param {(folder: string) => Promise<void>} make
 */
async function replaceBuild(build, builds, make) {
  const name = stampOf(root, build);
  if (name === undefined) throw new Error(`there is no ${build.needs}`);
  const before = currentBuild(root, build);
  const making = mkdtempSync(join(builds, '.making-'));
  try {
    await make(making);
    chmodSync(making, 0o755); // a temporary folder is its maker's alone; a server may run as another user
    rmSync(join(builds, name), { recursive: true, force: true });
    renameSync(making, join(builds, name));
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  writeFileSync(join(builds, `${currentFile}.new`), `${name}\n`);
  renameSync(join(builds, `${currentFile}.new`), join(builds, currentFile));
  // A server that is just starting may have read the name of the build before, so that one stays.
  for (const other of readdirSync(builds)) {
    const isStale = !other.startsWith(currentFile) && other !== '.lock' && other !== name && other !== before;
    if (isStale) rmSync(join(builds, other), { recursive: true, force: true });
  }
}
