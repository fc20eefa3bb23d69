import type { Command } from 'commander';
import { connectionRules, environmentVariables } from '../environment.ts';
import { usageError } from '../errors.ts';
import { exitCodeMeanings } from '../exit-codes.ts';

/** What `tenon help <topic>` tells beside the commands' own help. */
export function addExitCodesTopic(program: Command): void {
  addTopic(
    program,
    'exit-codes',
    `Scripts can rely on these exit codes.\n\n${columns(exitCodeMeanings)}
With --json the last line of stderr is an object that tells more: {"error": {"code": …, "message": …}}.`,
  );
}

export function addEnvironmentTopic(program: Command): void {
  addTopic(
    program,
    'environment',
    `${connectionRules}
${columns(environmentVariables)}
The server's own settings are in docs/reference/configuration.md.`,
  );
}

export function addHelpCommand(program: Command): void {
  program
    .command('help')
    .argument('[command...]')
    .description('Show help for a command, or on a topic.')
    .action((names: string[]) => findCommand(program, names).outputHelp());
}

/** @throws CliError for a command that there isn't */
function findCommand(program: Command, names: readonly string[]): Command {
  let command = program;
  for (const [at, name] of names.entries()) {
    const next = command.commands.find((candidate) => candidate.name() === name || candidate.aliases().includes(name));
    if (next === undefined) {
      const path = ['tenon', ...names.slice(0, at)].join(' ');
      throw usageError(`There is no command "${path} ${name}", nor a topic of that name.`, `See: ${path} --help`);
    }
    command = next;
  }
  return command;
}

function addTopic(program: Command, name: string, text: string): void {
  const topic = program.command(name).description(text).helpOption(false).usage(' ');
  topic.configureHelp({ ...topic.configureHelp(), formatHelp: () => `${text}\n` });
  topic.action(() => topic.outputHelp());
}

function columns(rows: readonly (readonly [string | number, string])[]): string {
  const width = Math.max(...rows.map(([name]) => String(name).length));
  return rows.map(([name, meaning]) => `  ${String(name).padEnd(width)}  ${meaning}\n`).join('');
}
