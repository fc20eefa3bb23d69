import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { readEnvironment } from './environment.ts';
import { exitCodes } from './exit-codes.ts';
import { fileError } from './files.ts';
import { interruptible } from './interruptible.ts';
import type { Io } from './io.ts';
import { openBrowser } from './login/browser.ts';
import { reportError } from './output.ts';
import { run } from './run.ts';
import { runShell } from './run-shell.ts';
import { sleep } from './sleep.ts';

/** Runs the process's own command line, and sets its exit code. */
export async function main(): Promise<void> {
  const environment = readEnvironment();
  const io: Io = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment,
    fetch: (...request) => globalThis.fetch(...request), // naming it here would load it for commands that make no request
    nowMs: () => performance.now(),
    clockMs: () => Date.now(),
    sleep,
    randomBytes,
    platform: process.platform,
    workingFolder: process.cwd(),
    hostName: hostname(),
    openBrowser: (url) => openBrowser(url, environment, process.platform),
    runShell: (line, folder, signal) => runShell(line, { folder, environment, signal }),
    interruptible,
  };
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.success);
    const reported = fileError('Cannot write to stdout', error);
    reportError(reported, io, process.argv.includes('--json'));
    process.exit(reported.exitCode);
  });
  process.exitCode = await run(process.argv.slice(2), io);
}
