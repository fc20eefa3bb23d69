import { complete } from './complete.ts';
import { listNames } from './complete-names.ts';
import type { Io } from './io.ts';
import { createProgram } from './program.ts';
import { printable } from './text.ts';

/**
 * Writes the completions of the last word to stdout, one a line: the word, a tab, and a description. The shells' scripts call it as
 * `tenon completion -- <words>`. Writes nothing when anything fails.
 */
export async function writeCompletions(words: readonly string[], io: Io): Promise<void> {
  try {
    const program = await createProgram(io, words);
    const found = await complete(program, words, (kind, options, word) => listNames(io, kind, options, word));
    const safe = found.filter(({ value }) => printable(value) === value); // a changed name would not be found
    for (const { value, description } of safe) io.stdout.write(`${value}\t${printable(description)}\n`);
  } catch {
    // A shell must not show errors while its user types.
  }
}
