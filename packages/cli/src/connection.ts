import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './environment.ts';
import { CliError, usageError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';

/** What the command line says on where the server is. */
export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** Which server to talk to, and what to use there when the command line doesn't say. */
export interface Connection {
  /** `{base_url}`, without a slash at the end. */
  readonly url: string;
  /** The access token. Absent when none was found: {@link demandToken} says so. */
  readonly token: string | undefined;
  /** The application and the extension point that commands are about by default. */
  readonly appId: string | undefined;
  readonly extensionPointId: string | undefined;
}

/** Where the data folder is: `--data-dir`, else TENON_DATA_DIR, else `./tenon-data`. */
export function dataFolder(options: ConnectionOptions, environment: Environment): string {
  return options.dataDir ?? (environment.TENON_DATA_DIR || './tenon-data');
}

/**
 * Finds the server and the token: the command line goes before the environment, and that before `quickstart.env` in the data
 * folder. What is in that file belongs to its own server, and is never sent to another.
 *
 * @throws CliError when no server is named, or the URL is none
 */
export function findConnection(options: ConnectionOptions, environment: Environment): Connection {
  const quickstart = readQuickstart(join(dataFolder(options, environment), 'quickstart.env'));
  const named = options.url ?? environment.TENON_URL;
  const found = named || quickstart.TENON_URL;
  if (!found) throw usageError('Which server? None is named, and there is no quickstart.env here.', waysToConnect);
  const url = normalizeUrl(found);
  const isQuickstart = quickstart.TENON_URL !== undefined && normalizeUrl(quickstart.TENON_URL) === url;
  const fallback = isQuickstart ? quickstart : {};
  const value = (name: string) => environment[name] || fallback[name] || undefined;
  return {
    url,
    token: options.token ?? value('TENON_TOKEN'),
    appId: value('TENON_APP_ID'),
    extensionPointId: value('TENON_EXTENSION_POINT_ID'),
  };
}

/** @throws CliError that tells the ways to get a token, when there is none */
export function demandToken({ token }: Pick<Connection, 'token'>): string {
  if (token !== undefined) return token;
  throw new CliError('missing_credentials', 'There is no access token for this server.', {
    exitCode: exitCodes.denied,
    hint: [
      'Set TENON_TOKEN to one. To get it:',
      '  on a demo server       run commands where its data folder is (./tenon-data), or name it with --data-dir',
      "  on the server's host   tenon admin create-user <name>, then tenon admin create-token <user>",
      '  with another token     tenon token create <name>',
    ].join('\n'),
  });
}

const waysToConnect = [
  'Name it with --url or TENON_URL, or name the data folder of a server on this machine with --data-dir.',
  'To start a server here: tenon serve',
].join('\n');

function normalizeUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw usageError(`"${text}" is no server's URL. It looks like https://plugins.example.org.`);
  }
  return url.href.replace(/\/+$/, '');
}

function readQuickstart(path: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch {
    return {}; // Not there, or another user's: then it says nothing to us.
  }
}
