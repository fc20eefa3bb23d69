import type { Command } from 'commander';
import { connectionRules, environmentVariables } from '../environment.ts';
import { usageError } from '../errors.ts';
import { exitCodeMeanings } from '../exit-codes.ts';
import type { Io } from '../io.ts';

/** The topics of `tenon help <topic>`. */
const topics: Readonly<Record<string, () => string>> = {
  'exit-codes': () => `Scripts can rely on these exit codes.

${columns(exitCodeMeanings)}
With --json the last line of stderr is an object with the details: {"error": {"code": …, "message": …}}.
`,
  environment: () => `${connectionRules}
${columns(environmentVariables)}
The server's own settings are in docs/reference/configuration.md.
`,
};

export function addHelpCommand(program: Command, io: Pick<Io, 'stdout'>): void {
  const write = (text: string) => void io.stdout.write(text);
  program
    .command('help')
    .argument('[command...]', `a command, or a topic: ${Object.keys(topics).join(', ')}`)
    .description('Show help for a command, or on a topic.')
    .action((names: string[]) => {
      const [name = ''] = names;
      const topic = names.length === 1 && Object.hasOwn(topics, name) ? topics[name] : undefined;
      if (topic === undefined) findCommand(program, names).outputHelp();
      else write(topic());
    });
}

/** @throws CliError for a command that there isn't */
function findCommand(program: Command, names: readonly string[]): Command {
  let command = program;
  for (const [at, name] of names.entries()) {
    const next = command.commands.find((candidate) => candidate.name() === name || candidate.aliases().includes(name));
    if (next === undefined) {
      const path = ['tenon', ...names.slice(0, at)].join(' ');
      throw usageError(`There is no command "${path} ${name}", and no topic with that name.`, `See: ${path} --help`);
    }
    command = next;
  }
  return command;
}

function columns(rows: readonly (readonly [string | number, string])[]): string {
  const width = Math.max(...rows.map(([name]) => String(name).length));
  return rows.map(([name, meaning]) => `  ${String(name).padEnd(width)}  ${meaning}\n`).join('');
}
