import type { Credentials } from './credentials.ts';
import { type CredentialsPlace, readCredentials } from './credentials-file.ts';
import type { Environment } from './environment.ts';
import { CliError, usageError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import { type NamedProfile, profileOfServer } from './profiles.ts';
import { findQuickstart, type QuickstartPlace } from './quickstart.ts';
import { type ConnectionOptions, chooseServer, type ServerChoice, type ServerSources } from './server-choice.ts';
import { parseServerUrl } from './server-url.ts';

/** Which server to talk to, and what to use there when the command line doesn't say. */
export interface Connection {
  /** `{base_url}`, without a slash at the end. */
  readonly url: string;
  /** The access token. Absent when none was found: {@link assertToken} says so. */
  readonly token: string | undefined;
  /** The login that the token is of, when it is one's. */
  readonly login: NamedProfile | undefined;
  /** The application and the extension point that commands are about by default. */
  readonly appId: string | undefined;
  readonly extensionPointId: string | undefined;
  /** The server whose data folder is here, when another one was chosen because of the current login alone. */
  readonly passedOver: string | undefined;
  /** The file in this folder or above that alone names the server, where it kept TENON_TOKEN from being sent there. */
  readonly tokenWithheldBy: string | undefined;
  /** The file that names the server, where it was found rather than named. */
  readonly foundIn: string | undefined;
}

/** The folder of logins, and the server of the plugin's `tenon.toml`. */
export type ConnectionPlace = CredentialsPlace & Pick<ServerSources, 'projectServer'> & QuickstartPlace;

/**
 * Finds the server as {@link chooseServer} does, then a token for it: `--token`, else TENON_TOKEN, else a login at that
 * server, else that server's own `quickstart.env`. What belongs to one server is never sent to another.
 *
 * @throws CliError when no server is named, or what names it is wrong
 */
export function findConnection(options: ConnectionOptions, place: ConnectionPlace): Connection {
  const { environment, projectServer } = place;
  const { values: quickstart, file } = findQuickstart(options.dataDir, place);
  const quickstartUrl = parseServerUrl(quickstart.TENON_URL ?? '');
  const logins = lazily(() => readCredentials(place));
  const chosen = chooseServer(options, { environment, logins, quickstartUrl, projectServer });
  if (chosen === undefined) throw whichServer(logins());
  const { url } = chosen;
  const fallback = quickstartUrl === url ? quickstart : {};
  const given = options.token || environmentToken(chosen, environment);
  const login = given ? undefined : (chosen.login ?? profileOfServer(logins(), url, environment.TENON_PROFILE));
  const value = (name: string) => environment[name] || fallback[name] || undefined;
  return {
    url,
    token: given || login?.profile.token || fallback.TENON_TOKEN || undefined,
    login,
    appId: value('TENON_APP_ID'),
    extensionPointId: value('TENON_EXTENSION_POINT_ID'),
    passedOver: chosen.by === 'current login' && quickstartUrl !== url ? quickstartUrl : undefined,
    tokenWithheldBy: isFound(chosen) && !given && environment.TENON_TOKEN ? foundFile(chosen, file) : undefined,
    foundIn: isFound(chosen) ? foundFile(chosen, file) : undefined,
  };
}

/** Whether nothing but a file in this folder or above names the server. Such files come with sources, which are untrusted. */
function isFound({ by }: ServerChoice): boolean {
  return by === 'tenon.toml' || by === 'quickstart';
}

function foundFile({ by }: ServerChoice, quickstartFile: string | undefined): string | undefined {
  return by === 'tenon.toml' ? 'tenon.toml' : quickstartFile;
}

/**
 * TENON_TOKEN, where it may go: beside TENON_URL it is that server's, and a profile that is named has a token of its own. A
 * `tenon.toml` or `quickstart.env` that was found can't send the token to a server of its choice.
 */
function environmentToken(choice: ServerChoice, environment: Environment): string | undefined {
  const { url, by, login } = choice;
  if ((by === 'option' || by === 'tenon.toml') && login !== undefined) return undefined;
  if (isFound(choice) && !environment.TENON_URL) return undefined;
  const isOtherServers = environment.TENON_URL && parseServerUrl(environment.TENON_URL) !== url;
  return isOtherServers ? undefined : environment.TENON_TOKEN;
}

/** @throws CliError with the ways to get a token, without one */
export function assertToken({
  token,
  url,
  tokenWithheldBy,
}: Pick<Connection, 'token' | 'url' | 'tokenWithheldBy'>): string {
  if (token !== undefined) return token;
  if (tokenWithheldBy !== undefined) {
    throw new CliError(
      'missing_credentials',
      `There is no access token for ${url}, the server in ${tokenWithheldBy}.`,
      {
        exitCode: exitCodes.denied,
        hint: `TENON_TOKEN is not sent to a server that only a file names. If it is for this server, set TENON_URL=${url}`,
      },
    );
  }
  throw new CliError('missing_credentials', `There is no access token for ${url}.`, {
    exitCode: exitCodes.denied,
    hint: [
      'To get one:',
      `  with an account there  tenon login --server ${url}`,
      '  with a token at hand   set TENON_TOKEN to it',
      '  on a demo server       run commands where its data folder is (./tenon-data), or name it with --data-dir',
      "  on the server's host   tenon admin user create <name>, then tenon admin token create <user>",
      '  with another token     tenon token create <name>',
    ].join('\n'),
  });
}

function whichServer({ profiles }: Credentials): CliError {
  if (profiles.size === 0) return usageError('Which server? You named none, and are not logged in.', waysToConnect);
  const names = [...profiles.keys()].join(', ');
  return usageError(
    'Which server? You named none, and no login is the current one.',
    `To make it one of ${names}: tenon profile use <name>`,
  );
}

const waysToConnect = [
  'Log in:                     tenon login --server <url>',
  'Or name the server:         --server <url>, or TENON_URL',
  'One on this machine:        --data-dir <its data folder>',
  'To start a server here:     tenon serve',
].join('\n');

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
