import type { Command } from 'commander';
import { type Api, createApi } from './api.ts';
import type { TemporaryToken } from './ci/trusted-publishing.ts';
import { assertToken, type Connection, findConnection } from './connection.ts';
import type { Io } from './io.ts';
import { createReporter, type Reporter } from './output.ts';
import type { ConnectionOptions } from './server-choice.ts';
import { formatTime, printable } from './text.ts';
import type { Target, TokenHints } from './transport.ts';

/** The environment of a command that calls a server. */
export interface Session {
  readonly io: Io;
  readonly api: Api;
  readonly out: Reporter;
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

/** The options of every command that calls a server. */
export interface CommonOptions extends ConnectionOptions {
  readonly json?: boolean | undefined;
  /** In milliseconds. */
  readonly timeout?: number | undefined;
}

/** Gets a token for one command. Returns `undefined` if there is no way to get one here. */
export type ObtainToken<Found, Options, Args extends unknown[]> = (
  place: Pick<Session, 'io' | 'connection'> & { readonly target: Target; readonly found: Found },
  options: Options,
  ...args: Args
) => Promise<TemporaryToken | undefined>;

const defaultTimeoutMs = 60_000;

/** The action of a command that calls a server, with a session, the command's options, and its arguments. */
export function calling<Options, Args extends unknown[]>(
  io: Io,
  work: (session: Session, options: Options, ...args: Args) => Promise<void>,
): (...args: unknown[]) => Promise<void> {
  return callingFrom(io, async () => ({}), work);
}

/**
 * Like {@link calling}, for a command that first reads its environment.
 *
 * @param look its result is part of the session, and may name the server
 * @param obtainToken gets a token for the command if none is configured; it is revoked at the end
 */
export function callingFrom<Found extends { readonly server?: string | undefined }, Options, Args extends unknown[]>(
  io: Io,
  look: (out: Reporter, options: Options) => Promise<Found>,
  work: (session: Session & { readonly found: Found }, options: Options, ...args: Args) => Promise<void>,
  obtainToken?: ObtainToken<Found, Options, Args>,
): (...args: unknown[]) => Promise<void> {
  return async (...all) => {
    const command = all.at(-1) as Command;
    const options = command.opts<CommonOptions>();
    const out = createReporter(io, options.json === true);
    const found = await look(out, options as Options);
    const connection = findConnection(options, { ...io, warn: out.warn, projectServer: found.server });
    const isConfigured = connection.token !== undefined || obtainToken === undefined;
    if (isConfigured) assertToken(connection);
    const warning = expiryWarning(connection, io.clockMs());
    if (warning !== undefined && options.json !== true) out.warn(warning);
    if (connection.passedOver !== undefined) out.note(passedOverNote(connection));
    const args = command.processedArgs as Args;
    await io.interruptible(async (signal) => {
      const target = {
        url: connection.url,
        foundIn: connection.foundIn,
        token: undefined,
        tokenHints: tokenHints(connection, io.clockMs()),
        fetch: io.fetch,
        timeoutMs: timeoutMs(options),
        signal,
      };
      const obtained = isConfigured
        ? undefined
        : await obtainToken({ io, connection, target, found }, options as Options, ...args);
      const api = createApi({ ...target, token: obtained?.token ?? assertToken(connection) });
      try {
        await work({ io, api, out, connection, signal, found }, options as Options, ...args);
      } finally {
        await obtained?.revoke();
      }
    });
  };
}

export function timeoutMs({ timeout }: Pick<CommonOptions, 'timeout'>): number {
  return timeout ?? defaultTimeoutMs;
}

/** How long before the end of a login commands warn of it, in milliseconds. */
const expiryWarningMs = 3 * 24 * 60 * 60 * 1000;

/** Says that a login ends soon. The lifetime of a token from the environment is not known. */
function expiryWarning({ login }: Connection, clockMs: number): string | undefined {
  if (login === undefined) return undefined;
  const leftMs = Date.parse(login.profile.expiresAt) - clockMs;
  if (leftMs <= 0 || leftMs > expiryWarningMs) return undefined;
  return `The login "${login.name}" ends at ${formatTime(login.profile.expiresAt)}. Renew it: tenon login --profile ${login.name}`;
}

/** Says which server is used, for a user who is logged in to one server and in the folder of another. */
function passedOverNote({ url, login, passedOver }: Connection): string {
  return `To ${url} (profile ${login?.name}). The data folder here is that of ${passedOver}: --data-dir names it.`;
}

/** Hints for a rejected token. */
export function tokenHints({ login, url }: Connection, clockMs: number): TokenHints {
  if (login === undefined) {
    return {
      invalid_token: `Is this a token of ${url}? "tenon help environment" explains how tokens are found.`,
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
