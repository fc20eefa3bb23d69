// Runs test files under `node --test`. A file's name says which run it belongs to: `x.test.ts` is quick, `x.proof.ts` is not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { writeSharedProcesses } from './shared-processes.mjs';
import { openTestServices } from './test-services.mjs';
import { findFiles, narrow, root } from './workspace.mjs';

/** @typedef {'test' | 'proof'} Kind */

/**
 * Runs the files of a kind, and sets the exit code. Files of the proof that failed in a browser run once more, alone: a
 * browser on a busy machine is late in ways that no program decides. All other failures count at once.
 *
 * @param {Kind} kind
 * @param {string[]} args files and folders, as `narrow` takes them, and options of node's test runner
 */
export async function runTests(kind, args) {
  const options = args.filter((argument) => argument.startsWith('-'));
  const places = args.filter((argument) => !argument.startsWith('-'));
  const files = narrow(testFiles(kind), places);
  const services = await openTestServices();
  const first = await runFiles(kind, files, options, services.url);
  let { code } = first;
  if (kind === 'proof' && code === 1 && mayRunAgain(first.failed)) {
    console.log(`\nFailed in a browser, and run once more:\n${first.failed.map((file) => `  ${file}\n`).join('')}`);
    ({ code } = await runFiles(kind, first.failed, options, services.url));
    if (code === 0) console.log(`\nUnreliable: failed at first, and passed alone:\n  ${first.failed.join('\n  ')}`);
  }
  await services.close();
  process.exitCode = code;
}

/** More failed files than this are no accident. */
const maxRunAgain = 4;

/**
 * Whether failed files may run once more: a few, all of which use a browser.
 *
 * @param {readonly string[]} failed
 */
export function mayRunAgain(failed) {
  return failed.length > 0 && failed.length <= maxRunAgain && failed.every(usesBrowser);
}

/** @param {string} file */
function usesBrowser(file) {
  return testFiles('proof').includes(file) && readFileSync(join(root, file), 'utf8').includes('noBrowser');
}

/**
 * Runs files under `node --test`.
 *
 * @param {Kind} kind
 * @param {string[]} files
 * @param {string[]} options
 * @param {string} servicesUrl
 * @returns {Promise<{ code: number, failed: string[] }>} the exit code, and the files with failed tests
 */
async function runFiles(kind, files, options, servicesUrl) {
  const folder = join(root, 'node_modules', '.cache', 'tests', String(process.pid));
  const failedList = join(folder, 'failed.json');
  mkdirSync(folder, { recursive: true });
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
        TEST_SERVICES: servicesUrl,
        TEST_FAILED_LIST: failedList,
      },
    },
  );
  const stop = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const [code, signal] = await once(child, 'exit');
  process.off('SIGINT', stop).off('SIGTERM', stop);
  const failed = existsSync(failedList) ? JSON.parse(readFileSync(failedList, 'utf8')) : [];
  rmSync(folder, { recursive: true, force: true });
  return signal === null ? { code, failed } : { code: 1, failed: [] };
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
