// Runs the tests, and ends with node's own summary.
//
//   npm test                                       all of them
//   npm test -- packages/protocol                  those of a folder or a file
//   npm test -- --test-name-pattern='publish'      node's own options come after `--` too
import './lib/require-node.mjs';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { findFiles, narrow, root } from './lib/workspace.mjs';

const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const places = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

const files = narrow(
  findFiles([
    'packages/*/src/**/*.test.ts',
    'packages/*/test/**/*.test.ts',
    'examples/*/**/*.test.ts',
    'scripts/**/*.test.ts',
    'test/**/*.test.ts',
  ]),
  places,
);

const child = spawn(
  process.execPath,
  [
    '--test',
    '--test-reporter=spec',
    `--test-concurrency=${Math.max(2, availableParallelism()) + 1}`, // they wait for disks, browsers and time-outs, too
    '--test-timeout=300000', // milliseconds; a test that hangs fails with its name
    ...options,
    ...files,
  ],
  {
    cwd: root,
    stdio: 'inherit',
    // Hundreds of processes load the same modules: each is compiled once. `npm ci` empties it.
    env: { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'), ...process.env },
  },
);
child.on('exit', (code, signal) => {
  if (signal === null) process.exitCode = code ?? 1;
  else process.kill(process.pid, signal);
});
