import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { readEnvironment } from './environment.ts';
import { exitCodes } from './exit-codes.ts';
import { fileError } from './files.ts';
import { interruptible } from './interruptible.ts';
import type { Io } from './io.ts';
import { reportError } from './output.ts';
import { run } from './run.ts';

/** Runs the process's own command line, and sets its exit code. */
export async function main(): Promise<void> {
  const io: Io = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: readEnvironment(),
    fetch: globalThis.fetch,
    nowMs: () => performance.now(),
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
