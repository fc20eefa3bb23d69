import { type Command, InvalidArgumentError, Option } from 'commander';

/** The options that say what becomes of coverage. */
export interface CoverageFlags {
  readonly lcov?: string;
  readonly html?: string;
  readonly merge?: string;
  readonly sources?: string;
  readonly failUnder?: number;
}

/** Adds the options for the report. Each of them sets `implied` too, if given. */
export function withCoverageReport(command: Command, implied: Readonly<Record<string, boolean>> = {}): Command {
  return command
    .addOption(new Option('--lcov <file>', 'write LCOV; "-" is stdout').implies(implied))
    .addOption(new Option('--html <folder>', 'write a page for each file, and index.html').implies(implied))
    .addOption(
      new Option('--merge <file>', 'add the counts to those in this file, and report the sum').implies(implied),
    )
    .addOption(
      new Option('--sources <folder>', 'report the source files in this folder (default: the current one)').implies(
        implied,
      ),
    )
    .addOption(
      new Option('--fail-under <percent>', 'fail if fewer lines are covered').argParser(parsePercent).implies(implied),
    );
}

function parsePercent(text: string): number {
  const value = Number(text);
  if (!/^\d{1,3}(\.\d+)?$/.test(text) || value > 100) throw new InvalidArgumentError('Expected 0 to 100.');
  return value;
}
