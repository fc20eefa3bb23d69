import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { readEnvironment } from './environment.ts';
import { interruptedError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';
import { run } from './run.ts';

/** Runs the process's own command line, and sets its exit code. */
export async function main(): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.success);
    throw error;
  });
  const io: Io = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: readEnvironment(),
    fetch: globalThis.fetch,
    nowMs: () => performance.now(),
    interruptible,
  };
  process.exitCode = await run(process.argv.slice(2), io);
}

/** A first Ctrl-C (or SIGTERM) asks the work to end; a second one ends the process, as it does when there is no such work. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (signal: 'SIGINT' | 'SIGTERM') => controller.abort(interruptedError(signal));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
