import type { StackFrame } from './source-stack.ts';

/** How a run ended. */
export type Ending =
  /** With an exit code if the program exited by itself or is a command. */
  | { readonly kind: 'returned'; readonly exitCode: number | undefined }
  /** A trap, an exception, or an error that a plugin reported. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** The calls that it failed in, innermost first; absent without debug information. */
      readonly stack?: readonly StackFrame[];
    }
  /** The host stopped it. */
  | { readonly kind: 'stopped' }
  /** It did not start: the engine refuses the module or its imports. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Thrown by WASI's `proc_exit` to unwind the program. */
export class ProgramExit extends Error {
  override readonly name = 'ProgramExit';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Thrown into a program that the host stops. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** A failure whose message describes it completely: a host function's refusal, or an error that a plugin reported. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
}

export function endingOf(thrown: unknown): Ending {
  if (thrown instanceof Stopped) return { kind: 'stopped' };
  if (thrown instanceof ProgramExit) return { kind: 'returned', exitCode: thrown.exitCode };
  if (thrown instanceof WebAssembly.LinkError || thrown instanceof WebAssembly.CompileError) {
    return { kind: 'refused', reason: thrown.message.replace(/^WebAssembly\.\w+\(\): /, '') };
  }
  return { kind: 'failed', reason: reasonOf(thrown) };
}

/** Why a span failed; `undefined` for a program that exits with success. */
export function failureReason(thrown: unknown): string | undefined {
  if (thrown instanceof ProgramExit) return thrown.exitCode === 0 ? undefined : thrown.message;
  return thrown instanceof Stopped ? 'stopped' : reasonOf(thrown);
}

/** Messages may contain a module's text, of any length. */
const maxReasonLength = 1_000;

function reasonOf(thrown: unknown): string {
  if (thrown instanceof WebAssembly.Exception) return 'uncaught exception';
  if (!(thrown instanceof Error)) return String(thrown).slice(0, maxReasonLength);
  const isComplete = [RunFailure, WebAssembly.RuntimeError, RangeError].some((type) => thrown instanceof type);
  return (isComplete ? thrown.message : `${thrown.name}: ${thrown.message}`).slice(0, maxReasonLength);
}
