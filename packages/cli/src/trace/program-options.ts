import type { Command } from 'commander';
import { parseTimeout } from '../duration.ts';
import { collectAll, type InputFlags, withPluginInput } from './settings.ts';

/** The options that say what to run, and with what. */
export interface ProgramFlags extends InputFlags {
  readonly invoke?: string;
  readonly pluginConfig?: readonly string[];
  readonly env?: readonly string[];
  readonly dir?: readonly string[];
  readonly stubImports?: boolean;
  readonly timeout?: number;
}

export function withProgram(command: Command): Command {
  const entry = command
    .optionsGroup('The program:')
    .option('-i, --invoke <export>', 'call this export instead of _start');
  return withPluginInput(entry)
    .option('--env <name[=value]>', 'an environment variable of the program; repeatable', collectAll)
    .option('--dir <folder[::path]>', 'a folder for the program, under this path; repeatable', collectAll)
    .option('--stub-imports', 'replace missing imports with functions that return zero')
    .option('--timeout <duration>', 'stop the program after this long and report the run so far', parseTimeout);
}
