import type { Command } from 'commander';
import { type Api, createApi } from './api.ts';
import { assertToken, type Connection, findConnection } from './connection.ts';
import type { Io } from './io.ts';
import { createReporter, type Reporter } from './output.ts';
import type { ConnectionOptions } from './server-choice.ts';
import { formatTime, printable } from './text.ts';
import type { TokenHints } from './transport.ts';

/** What a command that talks to a server works with. */
export interface Session {
  readonly io: Io;
  readonly api: Api;
  readonly out: Reporter;
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

/** What every command takes that talks to a server. */
export interface CommonOptions extends ConnectionOptions {
  readonly json?: boolean | undefined;
  /** In milliseconds. */
  readonly timeout?: number | undefined;
}

const defaultTimeoutMs = 60_000;

/** The action of a command that talks to a server: gets a session, the command's own options, then its arguments. */
export function calling<Options, Args extends unknown[]>(
  io: Io,
  work: (session: Session, options: Options, ...args: Args) => Promise<void>,
): (...args: unknown[]) => Promise<void> {
  return callingFrom(io, async () => ({}), work);
}

/**
 * Like {@link calling}, for a command that looks around first.
 *
 * @param look what it finds goes into the session; it may name the server
 */
export function callingFrom<Found extends { readonly server?: string | undefined }, Options, Args extends unknown[]>(
  io: Io,
  look: (out: Reporter, options: Options) => Promise<Found>,
  work: (session: Session & { readonly found: Found }, options: Options, ...args: Args) => Promise<void>,
): (...args: unknown[]) => Promise<void> {
  return async (...all) => {
    const command = all.at(-1) as Command;
    const options = command.opts<CommonOptions>();
    const out = createReporter(io, options.json === true);
    const found = await look(out, options as Options);
    const connection = findConnection(options, { ...io, warn: out.warn, projectServer: found.server });
    const token = assertToken(connection);
    if (connection.passedOver !== undefined) out.note(passedOverNote(connection));
    await io.interruptible((signal) => {
      const api = createApi({
        url: connection.url,
        foundIn: connection.foundIn,
        token,
        tokenHints: tokenHints(connection, io.clockMs()),
        fetch: io.fetch,
        timeoutMs: timeoutMs(options),
        signal,
      });
      return work({ io, api, out, connection, signal, found }, options as Options, ...(command.processedArgs as Args));
    });
  };
}

export function timeoutMs({ timeout }: Pick<CommonOptions, 'timeout'>): number {
  return timeout ?? defaultTimeoutMs;
}

/** Who is logged in to one server, and stands in another one's folder, is told which is meant. */
function passedOverNote({ url, login, passedOver }: Connection): string {
  return `To ${url} (profile ${login?.name}). The data folder here is that of ${passedOver}: --data-dir names it.`;
}

/** What to do when the server refuses the token. */
export function tokenHints({ login, url }: Connection, clockMs: number): TokenHints {
  if (login === undefined) {
    return {
      invalid_token: `Is this a token of ${url}? "tenon help environment" tells where it is looked for.`,
      insufficient_scope: '`tenon token create --scope …` makes a token with other scopes.',
    };
  }
  const again = `tenon login --profile ${login.name}`;
  const { expiresAt, scopes } = login.profile;
  const what = Date.parse(expiresAt) <= clockMs ? `ended at ${formatTime(expiresAt)}` : 'has been revoked';
  return {
    invalid_token: `The login "${login.name}" ${what}. Log in again: ${again}`,
    insufficient_scope: `The login "${login.name}" is for ${printable(scopes.join(', '))}. For more: ${again} --scope read,publish,manage`,
  };
}
