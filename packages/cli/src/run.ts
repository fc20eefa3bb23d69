import { type Command, CommanderError } from 'commander';
import { CliError, usageError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';
import { reportError } from './output.ts';
import { createProgram } from './program.ts';
import { sentence } from './text.ts';

/**
 * Runs one command line.
 *
 * @param args what follows `tenon`
 * @returns the exit code; errors have been reported
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  if (args[0] === 'completion' && args[1] === '--') {
    await (await import('./completion.ts')).writeCompletions(args.slice(2), io);
    return exitCodes.success;
  }
  const program = await createProgram(io, args);
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
    return exitCodes.success;
  } catch (error) {
    if (error instanceof CommanderError && error.code.startsWith('commander.help')) {
      return error.exitCode === 0 ? exitCodes.success : exitCodes.usage; // a group without a command has shown its help
    }
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.success;
    if (isBrokenPipe(error)) return exitCodes.success; // who reads has had enough, as `head` does
    const isUnknown = error instanceof CommanderError && error.code === 'commander.unknownCommand';
    const inGroup = isUnknown ? commandInGroup(await createProgram(io), args[0]) : undefined;
    const reported = toCliError(error, program, args, inGroup);
    if (reported.exitCode !== exitCodes.interrupted) reportError(reported, io, args.includes('--json')); // Ctrl-C needs no words
    return reported.exitCode;
  }
}

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE' && 'syscall' in error;
}

function toCliError(error: unknown, program: Command, args: readonly string[], hint: string | undefined): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof CommanderError) {
    const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
    const help = `${commandPath(program, args)} --help`;
    return usageError(sentence(message), [hint ?? suggestion, `See: ${help}`].filter(Boolean).join('\n'));
  }
  return new CliError('internal', `tenon failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`, {
    cause: error,
  });
}

/** A hint for a command that is typed without the group in which it is. */
function commandInGroup(program: Command, name: string | undefined): string | undefined {
  const group = program.commands.find(({ commands }) => commands.some((command) => command.name() === name));
  return group && `Did you mean ${program.name()} ${group.name()} ${name}?`;
}

/** The command that the arguments lead to, as it is typed. */
function commandPath(program: Command, args: readonly string[]): string {
  let command = program;
  let path = program.name();
  for (const arg of args) {
    const next = command.commands.find((candidate) => candidate.name() === arg || candidate.aliases().includes(arg));
    if (next === undefined) break;
    command = next;
    path += ` ${next.name()}`;
  }
  return path;
}
