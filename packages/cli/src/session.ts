import type { Command } from 'commander';
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
