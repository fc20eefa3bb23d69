import { Command as CommanderCommand, InvalidArgumentError } from 'commander';
import { parseTimeout } from './duration.ts';

/** A command, or a group of commands. */
export class Command extends CommanderCommand {
  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Adds the options that several commands have. */
  use(...adders: readonly ((command: Command) => unknown)[]): this {
    for (const add of adders) add(this);
    return this;
  }

  /** Adds lines for the end of the command's help. */
  examples(...lines: string[]): this {
    return this.addHelpText('after', examples(...lines));
  }
}

/** Adds `--json`, which every command has. */
export function withJson(command: CommanderCommand): CommanderCommand {
  return command.option('--json', 'write the result as JSON');
}

/** Adds what a command needs that talks to a server. */
export function withServer(command: CommanderCommand): CommanderCommand {
  return withServerChoice(withJson(command).optionsGroup('Server:'))
    .option('--profile <profile>', 'the login to use (default: TENON_PROFILE, else the current one)')
    .option(
      '--token <token>',
      'the access token; TENON_TOKEN is safer, because other users of this machine can see options',
    )
    .option('--timeout <duration>', 'fail after this long without network activity (default: 60s)', parseTimeout);
}

/** Adds the ways to name a server that need no login there. */
export function withServerChoice(command: CommanderCommand): CommanderCommand {
  return command
    .option(
      '--server <server>',
      "a URL, or a login's name (default: TENON_URL, else the current login, else quickstart.env in the data folder)",
    )
    .option('--data-dir <folder>', 'the data folder of a server on this machine (default: ./tenon-data)');
}

/** Adds `--yes`, for commands that ask before they destroy. */
export function withConfirmation(command: CommanderCommand): CommanderCommand {
  return command.option('-y, --yes', "don't ask");
}

/** Adds `--app`. */
export function withApp(command: CommanderCommand): CommanderCommand {
  return command.option('--app <app>', 'the application, by id or name (default: TENON_APP_ID, else the only one)');
}

/** Adds `--extension-point`. */
export function withExtensionPoint(
  command: CommanderCommand,
  usual = 'TENON_EXTENSION_POINT_ID, else the only one',
): CommanderCommand {
  return command.option(
    '-e, --extension-point <extension-point>',
    `the extension point, by id or name (default: ${usual})`,
  );
}

/** Lines for the end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`;
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,7}$/.test(text) || count < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return count;
}

/** Collects the values of an option that may come several times, each of which may list several between commas. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').map((item) => item.trim())].filter((item) => item !== '');
}
