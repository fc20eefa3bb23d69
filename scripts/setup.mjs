// Installs what the workspace needs and builds what the server sends; does nothing when nothing has changed since the last time.
//
//   node scripts/setup.mjs                everything that `npm test` and the other commands need
//   node scripts/setup.mjs --production   only what `npm start` needs
//   node scripts/setup.mjs --proof        also what only `npm run proof` needs
import { dirname } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { setUp } from './lib/set-up.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tier = process.argv.includes('--production')
  ? 'production'
  : process.argv.includes('--proof')
    ? 'proof'
    : 'tests';

try {
  await setUp(root, tier);
} catch (error) {
  console.error(`Set-up failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode ??= 1;
}
