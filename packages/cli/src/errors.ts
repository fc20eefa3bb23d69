import type { Problem } from '@tenon/protocol';
import { type ExitCode, exitCodes } from './exit-codes.ts';

export interface CliErrorOptions {
  readonly exitCode?: ExitCode | undefined;
  /** How to fix it, for people. */
  readonly hint?: string | undefined;
  /** The server's answer, when it is one. */
  readonly problem?: Problem | undefined;
  /** The server's name for the request, to find it in its log. */
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** Ends a command: `message` and `hint` are for people, `code` is for scripts, and the process ends with `exitCode`. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  readonly problem: Problem | undefined;
  readonly requestId: string | undefined;

  constructor(code: string, message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.exitCode = options.exitCode ?? exitCodes.failure;
    this.hint = options.hint;
    this.problem = options.problem;
    this.requestId = options.requestId;
  }
}

/** A command line that can't be carried out as it stands. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError('usage', message, { exitCode: exitCodes.usage, hint });
}

/** A command that a signal ended. */
export function interruptedError(signal: 'SIGINT' | 'SIGTERM'): CliError {
  const exitCode = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
  return new CliError('interrupted', `Ended by ${signal}.`, { exitCode });
}
