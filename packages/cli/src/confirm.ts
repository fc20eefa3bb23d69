import { createInterface } from 'node:readline/promises';
import { CliError, interruptedError, usageError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';

export interface Confirmation {
  /** Whether the user has confirmed in advance. */
  readonly yes?: boolean | undefined;
  /** How to confirm in advance, if not with `--yes`. */
  readonly hint?: string | undefined;
}

/** Whether the command runs in a terminal. */
export function canAsk(io: Pick<Io, 'stdin' | 'stderr'>): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true;
}

/**
 * Asks the user to confirm what can't be undone, unless `--yes` confirms in advance. Without a terminal it throws.
 *
 * @param what the consequences, as a sentence, or as lines that end with a line break
 * @throws CliError when it is not confirmed
 */
export async function confirm(io: Io, what: string, { yes, hint }: Confirmation): Promise<void> {
  if (yes) return;
  const said = what.endsWith('\n') ? what : `${what} `;
  if (!canAsk(io)) {
    throw usageError(
      `${said}There is no terminal to confirm it on, so nothing was done.`,
      hint ?? 'To confirm, add --yes.',
    );
  }
  const answer = await io.interruptible((signal) => ask(io, `${said}Continue? [y/N] `, signal));
  if (!/^y(es)?$/i.test(answer.trim())) {
    throw new CliError('declined', 'Not confirmed: nothing was done.', { exitCode: exitCodes.failure });
  }
}

/** Asks a question on the terminal. Ctrl-D gives an empty answer; Ctrl-C ends the command. */
export async function ask(io: Io, question: string, signal: AbortSignal): Promise<string> {
  const prompt = createInterface({ input: io.stdin, output: io.stderr });
  try {
    return await new Promise<string>((resolve, reject) => {
      const leave = (settle: () => void) => {
        io.stderr.write('\n');
        settle();
      };
      // On a terminal readline sees Ctrl-C itself, and Ctrl-D closes it without an answer.
      prompt.once('SIGINT', () => leave(() => reject(interruptedError('SIGINT'))));
      prompt.once('close', () => setImmediate(resolve, '')); // after an answer that came just before
      prompt.question(question, { signal }).then(resolve, () => leave(() => reject(signal.reason)));
    });
  } finally {
    prompt.close();
  }
}
