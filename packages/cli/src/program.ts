import { version } from '@tenon/instrument';
import { Command } from 'commander';
import { examples } from './command.ts';
import { addApiKeyCommands } from './commands/api-key.ts';
import { addAppCommands } from './commands/app.ts';
import { addBindingsCommand } from './commands/bindings.ts';
import { addExtensionPointCommands } from './commands/extension-point.ts';
import { addFetchCommand } from './commands/fetch.ts';
import { addGuestCommands } from './commands/guest.ts';
import { addInstrumentCommand } from './commands/instrument.ts';
import { addInvitationCommands } from './commands/invitation.ts';
import { addPluginCommands } from './commands/plugin.ts';
import { addTokenCommands } from './commands/token.ts';
import { addHelpTopics } from './commands/topics.ts';
import { addWhoamiCommand } from './commands/whoami.ts';
import type { Io } from './io.ts';
import { createStyle, hasColours } from './text.ts';

/** The whole command line. Nothing runs before it is given arguments to parse. */
export function createProgram(io: Io): Command {
  const program = new Command('tenon');
  configure(program, io);
  program
    .description('Distributes WebAssembly plugins, and instruments WebAssembly modules for tracing.')
    .version(version, '-V, --version', 'write the version')
    .helpOption('-h, --help', 'show help')
    .addHelpText(
      'after',
      examples('tenon serve', 'tenon plugin push greet.wasm', 'tenon instrument app.wasm -o traced.wasm'),
    )
    .addHelpText('after', 'Each command explains itself with --help.');

  program.commandsGroup('Distribution:');
  addAppCommands(program, io);
  addExtensionPointCommands(program, io);
  addGuestCommands(program, io);
  addInvitationCommands(program, io);
  addPluginCommands(program, io);
  addBindingsCommand(program, io);
  addFetchCommand(program, io);
  program.commandsGroup('Instrumentation:');
  addInstrumentCommand(program, io);
  program.commandsGroup('Access:');
  addWhoamiCommand(program, io);
  addTokenCommands(program, io);
  addApiKeyCommands(program, io);
  program.commandsGroup('Help:');
  addHelpTopics(program);
  return program;
}

function configure(program: Command, io: Io): void {
  const style = createStyle(true);
  program
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({
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
    })
    .helpCommand('help [command]', 'show help for a command, or on a topic');
}
