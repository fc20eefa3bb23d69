// Builds the console for the server, unless the present sources are built already.
//
//   node scripts/build-console.mjs            into packages/console/dist
//
// Set-up calls it, so `npm start` and `npm test` need no option.
import './lib/require-node.mjs';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { consoleBuilds, consoleStamp, currentBuild, currentFile, isConsoleBuilt } from './lib/console-build.mjs';
import { takeLock } from './lib/folder-lock.mjs';
import { findFiles, root } from './lib/workspace.mjs';

const builds = consoleBuilds(root);

mkdirSync(builds, { recursive: true });
const unlock = await takeLock(join(builds, '.lock'));
try {
  if (!isConsoleBuilt(root)) await buildConsole();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  console.error(process.stderr.isTTY ? message : stripVTControlCharacters(message));
  process.exitCode = 1;
} finally {
  unlock();
}

async function buildConsole() {
  const name = consoleStamp(root);
  if (name === undefined) throw new Error('there is no packages/console');
  const before = currentBuild(root);
  const making = mkdtempSync(join(builds, '.making-'));
  try {
    await build({
      root: join(root, 'packages', 'console'),
      configLoader: 'native',
      logLevel: 'warn',
      build: { outDir: making, emptyOutDir: true },
    });
    for (const file of findFiles(['assets/*'], making)) await compress(join(making, file));
    chmodSync(making, 0o755); // a temporary folder is private; a server may run as another user
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

/**
 * Puts what browsers take instead of the file beside it, where that is smaller.
 *
 * @param {string} file
 */
async function compress(file) {
  const bytes = readFileSync(file);
  const brotli = await promisify(brotliCompress)(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  const gzipped = await promisify(gzip)(bytes, { level: 9 });
  if (brotli.length < bytes.length) writeFileSync(`${file}.br`, brotli);
  if (gzipped.length < bytes.length) writeFileSync(`${file}.gz`, gzipped);
}
