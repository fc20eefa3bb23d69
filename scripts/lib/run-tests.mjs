// Runs test files under `node --test`. A file's name says which run it belongs to: `x.test.ts` is quick, `x.proof.ts` is not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { writeSharedProcesses } from './shared-processes.mjs';
import { openTestServices } from './test-services.mjs';
import { findFiles, narrow, root } from './workspace.mjs';

/** @typedef {'test' | 'proof'} Kind */

/**
 * Runs the files of a kind, and sets the exit code.
 *
 * @param {Kind} kind
 * @param {string[]} args files and folders, as `narrow` takes them, and options of node's test runner
 */
export async function runTests(kind, args) {
  const options = args.filter((argument) => argument.startsWith('-'));
  const places = args.filter((argument) => !argument.startsWith('-'));
  const files = narrow(testFiles(kind), places);
  const services = await openTestServices();
  const folder = join(root, 'node_modules', '.cache', 'tests', String(process.pid));
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-reporter=${pathToFileURL(join(root, 'scripts', 'lib', 'test-report.mjs'))}`,
      '--test-reporter-destination=stdout',
      `--test-concurrency=${Math.max(2, availableParallelism()) + 1}`, // tests wait for disks, browsers, and time-outs
      '--test-timeout=300000', // milliseconds; a test that hangs fails with its name
      ...options,
      ...(kind === 'test' ? writeSharedProcesses(files, folder) : files),
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        // Many processes load the same modules: each module is compiled once. `npm ci` empties the folder.
        NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
        TEST_VOLUME: kind === 'proof' ? 'proof' : 'quick',
        ...process.env,
        TEST_SERVICES: services.url,
      },
    },
  );
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, 'exit');
  await services.close();
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = signal === null ? code : 1;
}

/**
 * The files of a kind, as sorted paths from the root.
 *
 * @param {Kind} kind
 */
export function testFiles(kind) {
  return findFiles([
    `packages/*/src/**/*.${kind}.ts`,
    `packages/*/test/**/*.${kind}.ts`,
    `examples/*/**/*.${kind}.ts`,
    `scripts/**/*.${kind}.ts`,
    `test/**/*.${kind}.ts`,
  ]);
}
