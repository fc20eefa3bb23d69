// Runs the benchmarks, each in a process of its own, one after the other.
//
//   npm run bench                        all of them
//   npm run bench -- packages/server     those of a folder or a file
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { findFiles, narrow, root } from './lib/workspace.mjs';

for (const file of narrow(findFiles(['packages/*/bench/**/*.bench.ts']), process.argv.slice(2))) {
  console.log(`\n${file}`);
  const { status } = spawnSync(process.execPath, [file], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
