import { type Command, InvalidArgumentError } from 'commander';
import { type Api, createApi } from './api.ts';
import { type Connection, type ConnectionOptions, demandToken, findConnection } from './connection.ts';
import { usageError } from './errors.ts';
import type { Io } from './io.ts';
import { createReporter, type Reporter } from './output.ts';

/** What a command that talks to a server works with. */
export interface Session {
  readonly io: Io;
  readonly api: Api;
  readonly out: Reporter;
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

interface CommonOptions extends ConnectionOptions {
  readonly json?: boolean | undefined;
  readonly timeout?: number | undefined;
}

const defaultTimeoutSeconds = 60;

/** Adds `--json`, which every command has. */
export function withJson(command: Command): Command {
  return command.option('--json', 'write the result as JSON');
}

/** Adds what a command needs that talks to a server. */
export function withServer(command: Command): Command {
  return withJson(command)
    .optionsGroup('Server:')
    .option('--url <url>', 'the server (default: TENON_URL, else quickstart.env in the data folder)')
    .option('--token <token>', 'the access token; other users of this machine can see it: TENON_TOKEN is safer')
    .option('--data-dir <folder>', 'the data folder of a server on this machine (default: ./tenon-data)')
    .option('--timeout <seconds>', 'give up when nothing has moved for so long (default: 60)', parseSeconds);
}

/** Adds `--yes`, for commands that ask before they destroy. */
export function withConfirmation(command: Command): Command {
  return command.option('-y, --yes', "don't ask");
}

/** The action of a command that talks to a server: gets a session, the command's own options, then its arguments. */
export function calling<Options, Args extends unknown[]>(
  io: Io,
  work: (session: Session, options: Options, ...args: Args) => Promise<void>,
): (...args: unknown[]) => Promise<void> {
  return async (...all) => {
    const command = all.at(-1) as Command;
    const options = command.opts<CommonOptions>();
    const connection = findConnection(options, io.environment);
    const token = demandToken(connection);
    await io.interruptible((signal) => {
      const timeoutMs = (options.timeout ?? defaultTimeoutSeconds) * 1000;
      const api = createApi({ url: connection.url, token, fetch: io.fetch, timeoutMs, signal });
      const out = createReporter(io, options.json === true);
      return work({ io, api, out, connection, signal }, options as Options, ...(command.processedArgs as Args));
    });
  };
}

/** The application that a command is about. */
export function demandApp({ connection }: Session, { app }: { readonly app?: string | undefined }): string {
  const id = app ?? connection.appId;
  if (id !== undefined) return id;
  throw usageError('Which application?', 'Name it with --app or TENON_APP_ID. To see yours: tenon app list');
}

/** Adds `--app`. */
export function withApp(command: Command): Command {
  return command.option('--app <app>', 'the application (default: TENON_APP_ID)');
}

/** The extension point that a command is about. */
export function demandExtensionPoint(
  { connection }: Session,
  { extensionPoint }: { readonly extensionPoint?: string | undefined },
): string {
  const id = extensionPoint ?? connection.extensionPointId;
  if (id !== undefined) return id;
  throw usageError(
    'Which extension point?',
    'Name it with --extension-point or TENON_EXTENSION_POINT_ID. To see those there are: tenon extension-point list',
  );
}

/** Adds `--extension-point`. */
export function withExtensionPoint(command: Command): Command {
  return command.option(
    '-e, --extension-point <extension-point>',
    'the extension point (default: TENON_EXTENSION_POINT_ID)',
  );
}

/** Lines for the end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`;
}

export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400)) throw new InvalidArgumentError('It takes seconds, more than 0.');
  return seconds;
}

export function parseDays(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > 3650) throw new InvalidArgumentError('It takes 1 to 3650 days.');
  return days;
}

/** Collects the values of an option that may come several times, each of which may list several between commas. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').map((item) => item.trim())].filter((item) => item !== '');
}
