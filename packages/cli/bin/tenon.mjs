#!/usr/bin/env node
// Plain JavaScript that any Node of the last years can read: it looks at the version before anything newer is loaded.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const oldestNode = '24.7';

if (isOlder(process.versions.node, oldestNode)) {
  console.error(
    'tenon needs Node.js ' +
      oldestNode +
      ' or later, and this is ' +
      process.version +
      '.\n' +
      'In its own source tree `npx --no-install tenon` finds the Node.js that `npm run setup` brings.\n' +
      'Elsewhere, get a newer one from https://nodejs.org.',
  );
  process.exitCode = 1;
} else {
  // What was compiled once lies beside what else is installed: every further command starts in less than half the time. Where that can't be
  // written, Node.js goes without. Its own place for this is one that others may write to.
  module.enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url)));
  import('../src/main.ts').then(({ main }) => main());
}

/** @param {string} version @param {string} oldest */
function isOlder(version, oldest) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
