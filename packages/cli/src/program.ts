import { type Argument, type Command as CommanderCommand, Help } from 'commander';
import { Command } from './command.ts';
import { commandGroups } from './command-table.ts';
import type { Io } from './io.ts';
import { createStyle, hasColours, sentence } from './text.ts';
import { version } from './version.ts';

/**
 * The command line. Nothing runs before it is given arguments to parse.
 *
 * @param args what is about to be parsed: only the commands that it names are loaded whole. All of them are without it
 */
export async function createProgram(io: Io, args?: readonly string[]): Promise<Command> {
  const program = new Command('tenon');
  configure(program, io);
  program
    .description('Distributes WebAssembly plugins, and instruments WebAssembly modules for tracing.')
    .version(version, '-V, --version', 'write the version')
    .helpOption('-h, --help', 'show help')
    .examples('tenon serve', 'tenon plugin push greet.wasm', 'tenon instrument app.wasm -o traced.wasm')
    .addHelpText(
      'after',
      'Help for a command: tenon <command> --help. Topics: tenon help exit-codes, tenon help environment.',
    );
  for (const { title, commands } of commandGroups) {
    program.commandsGroup(`${title}:`);
    for (const { name, alias, summary, load } of commands) {
      const isWanted = args === undefined || args.includes(name) || (alias !== undefined && args.includes(alias));
      if (isWanted) (await load())(program, io);
      else program.command(name);
      const command = program.commands.at(-1);
      command?.summary(summary);
      if (alias !== undefined && !isWanted) command?.alias(alias);
    }
  }
  withoutHelpCommands(program);
  return program;
}

/** One `help` command, which knows the whole tree, is enough. */
function withoutHelpCommands(command: CommanderCommand): void {
  command.helpCommand(false);
  command.commands.forEach(withoutHelpCommands);
}

function argumentTerm(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

function configure(program: Command, io: Io): void {
  const style = createStyle(true);
  program
    .exitOverride()
    // A command with subcommands may have the same options as they have: `tenon bindings`.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .configureHelp({
      subcommandTerm: (command) =>
        command.parent?.parent === null
          ? [command.name(), ...command.aliases()].join('|')
          : [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' '),
      commandUsage(command) {
        const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
        const usage = Help.prototype.commandUsage.call(this, command);
        return usage.replace('[options]', ['[options]', ...required].join(' '));
      },
      commandDescription: (command) => sentence(command.description()),
      optionDescription(option) {
        const text = Help.prototype.optionDescription.call(this, option);
        return option.mandatory ? `${text} (required)` : text;
      },
      styleTitle: style.bold,
      styleCommandText: style.bold,
      styleSubcommandTerm: style.good,
      styleOptionTerm: style.good,
    })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError() {}, // `run` reports it, with every other error
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
      getOutHasColors: () => hasColours(io.stdout, io.environment),
      getErrHasColors: () => hasColours(io.stderr, io.environment),
    });
}
