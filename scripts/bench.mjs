// Runs the benchmarks, each in a process of its own, one after the other.
//
//   npm run bench                                  all of them
//   npm run bench -- packages/server               those of a folder or a file
//   npm run bench -- packages/server --quick       options that follow are handed to each: see its --help
//   npm run bench -- peers                         runs only by its name, since it installs other programs
//   npm run bench -- adaptive                      the same: it installs programs to trace
//   npm run bench -- compare <path>                this checkout and another one, such as an earlier commit's worktree
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { findFiles, narrow, root } from './lib/workspace.mjs';

/** Benchmarks that run only by name: they install other programs, run for an hour, or need an argument. */
const named = new Map([
  ['adaptive', 'packages/trace/bench/adaptive.ts'],
  ['peers', 'packages/server/bench/peers.ts'],
  ['soak', 'packages/server/bench/soak.ts'],
]);

const given = process.argv.slice(2);
if (given[0] === 'compare') {
  const file = 'packages/server/bench/compare-trees.ts';
  process.exit(spawnSync(process.execPath, [file, ...given.slice(1)], { cwd: root, stdio: 'inherit' }).status ?? 1);
}
const firstOption = given.findIndex((argument) => argument.startsWith('-'));
const places = firstOption === -1 ? given : given.slice(0, firstOption);
const options = given.slice(places.length);
if (places.length === 0 && options.length > 0) {
  console.error('Name a folder or a file first: each benchmark has options of its own.');
  process.exit(2);
}

const asked = places.flatMap((place) => named.get(place) ?? []);
const others = places.filter((place) => !named.has(place));
const found =
  asked.length > 0 && others.length === 0 ? [] : narrow(findFiles(['packages/*/bench/**/*.bench.ts']), others);
for (const file of [...found, ...asked]) {
  console.error(`\n${file}`); // standard output is the benchmark's own
  const { status } = spawnSync(process.execPath, [file, ...options], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
