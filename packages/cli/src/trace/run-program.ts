import { type Ending, type RunResult, stackLines } from '@tenon/run-kit';
import { formatDuration } from '../duration.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io, Output } from '../io.ts';
import { writeBytes } from '../output.ts';
import { printable } from '../text.ts';
import { type RunOptions, runInThread } from './run-thread.ts';

/** A run that ended, or whose thread was terminated, and the error for a run that was stopped. */
export interface ProgramRun {
  readonly result: RunResult | undefined;
  readonly whyStopped: unknown;
}

/** The option that limits a run's time, for messages. */
interface TimeLimit {
  readonly timeLimitOption: string;
}

type ProgramOptions = Omit<RunOptions, 'signal' | 'stdin' | 'onLog'> & TimeLimit;

/** Runs a program until it ends, the time limit passes, or a signal stops it. Its log goes to stderr. */
export async function runProgram(io: Io, options: ProgramOptions): Promise<ProgramRun> {
  const { timeoutMs = 0, timeLimitOption } = options;
  return io.interruptible(async (signal) => {
    const onLog = (text: string) => void io.stderr.write(`plugin ${printable(text)}\n`);
    const result = await runInThread({ ...options, signal, stdin: io.stdin, onLog });
    const timedOut = new CliError(
      'timeout',
      `The program was stopped: it took longer than ${formatDuration(timeoutMs)} (${timeLimitOption}).`,
    );
    return { result, whyStopped: signal.aborted ? (signal.reason as unknown) : timedOut };
  });
}

/** Writes a plugin's output, or the results of a function, and ends the line if people read it. */
export async function writeAnswer(
  { output, values }: Pick<RunResult, 'output' | 'values'>,
  stream: Output,
): Promise<void> {
  const answer = output ?? new TextEncoder().encode(values.map((value) => `${value}\n`).join(''));
  await writeBytes(stream, answer);
  if (stream.isTTY && answer.length > 0 && answer.at(-1) !== 0x0a) await writeBytes(stream, new Uint8Array([0x0a]));
}

/** @throws CliError if the engine refused the module */
export function assertAccepted(ending: Ending): void {
  if (ending.kind !== 'refused') return;
  throw new CliError('invalid_module', `The engine can’t run the module: ${printable(ending.reason)}`, {
    exitCode: exitCodes.refused,
  });
}

/** @throws CliError unless the program returned, with exit code 0 if it has one */
export function assertSucceeded(ending: Ending, whyStopped: unknown): void {
  if (ending.kind === 'stopped') throw whyStopped;
  if (ending.kind === 'failed') {
    const stack = stackLines(ending.stack ?? []).map((line) => `    ${printable(line)}`);
    const lines = [`The program failed: ${printable(ending.reason)}`, ...stack];
    throw new CliError('program_failed', lines.join('\n'));
  }
  if (ending.kind === 'returned' && (ending.exitCode ?? 0) !== 0) {
    throw new CliError('program_failed', `The program exited with code ${ending.exitCode}.`);
  }
}
