// Builds the console for the server, unless the present sources are built already.
//
//   node scripts/build-console.mjs            into packages/console/dist
//
// Set-up calls it, so `npm start` and `npm test` need no option.
import './lib/require-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { keepBuild } from './lib/keep-build.mjs';
import { consoleBuild } from './lib/kept-build.mjs';
import { findFiles, root } from './lib/workspace.mjs';

await keepBuild(consoleBuild, async (folder) => {
  await build({
    root: join(root, 'packages', 'console'),
    configLoader: 'native',
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true },
  });
  for (const file of findFiles(['assets/*'], folder)) await compress(join(folder, file));
});

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
