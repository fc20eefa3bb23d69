#!/usr/bin/env node
// The start of the package. Plain JavaScript for old versions of Node.js: it checks the version before it loads anything newer.
import process from 'node:process';

const [oldestMajor, oldestMinor] = [22, 16];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  console.error(
    `tenon needs Node.js ${oldestMajor}.${oldestMinor} or later, and this is ${process.version}. Get a newer one from https://nodejs.org.`,
  );
  process.exitCode = 1;
} else {
  // Node.js 22 warns about its SQLite, which only locks files here.
  if (major === 22) process.removeAllListeners('warning');
  import(new URL('main.js', import.meta.url).href).then(({ main }) => main());
}
