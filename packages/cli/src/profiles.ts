import { type Credentials, type Profile, profileNamePattern } from './credentials.ts';
import { type CliError, usageError } from './errors.ts';
import { meantServerUrl, parseServerUrl } from './server-url.ts';
import { printable } from './text.ts';

/** A login with its name. */
export interface NamedProfile {
  readonly name: string;
  readonly profile: Profile;
}

const namePattern = new RegExp(profileNamePattern);

/** @throws CliError for an invalid name */
export function assertProfileName(name: string): string {
  if (namePattern.test(name)) return name;
  throw usageError(
    `"${printable(name)}" is not a valid profile name.`,
    'Letters, digits, dots, dashes and underscores; 100 at most.',
  );
}

/** @throws CliError when there is no profile of that name */
export function assertProfile({ profiles }: Credentials, name: string): NamedProfile {
  const profile = profiles.get(name);
  if (profile !== undefined) return { name, profile };
  throw usageError(`There is no profile "${printable(name)}".`, waysToName(profiles));
}

function waysToName(profiles: Credentials['profiles']): string {
  if (profiles.size === 0) return 'There are none yet: tenon login --server <url>';
  return `There ${profiles.size === 1 ? 'is' : 'are'} ${[...profiles.keys()].join(', ')}. To make one: tenon login`;
}

/**
 * The login for a server: the wanted one or the current one where it is for that server, else the only one that is.
 *
 * @param wanted a name that goes before the current one
 * @throws CliError when several are for the server, and nothing says which
 */
export function profileOfServer(
  credentials: Credentials,
  url: string,
  wanted: string | undefined,
): NamedProfile | undefined {
  const found = [...credentials.profiles].filter(([, profile]) => profile.url === url);
  for (const name of [wanted, credentials.current]) {
    const match = found.find((candidate) => candidate[0] === name);
    if (match !== undefined) return { name: match[0], profile: match[1] };
  }
  if (found.length > 1)
    throw ambiguous(
      url,
      found.map(([name]) => name),
    );
  const [only] = found;
  return only && { name: only[0], profile: only[1] };
}

function ambiguous(url: string, names: readonly string[]): CliError {
  return usageError(
    `You have several logins at ${url}: ${names.join(', ')}.`,
    'Name one with --profile or TENON_PROFILE.',
  );
}

/**
 * The default name of a login: the server's host, with the port where that isn't the usual one, and
 * a number where another server's login is called so.
 */
export function nameForServer({ profiles }: Credentials, url: string): string {
  const { hostname, port, pathname } = new URL(url);
  const words = [hostname, port, ...pathname.split('/')].map((word) => word.replace(/[^A-Za-z0-9._-]+/g, ''));
  const base =
    words
      .filter((word) => word !== '')
      .join('-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 90) || 'server';
  const isFree = (name: string) => (profiles.get(name)?.url ?? url) === url;
  if (isFree(base)) return base;
  for (let number = 2; ; number++) if (isFree(`${base}-${number}`)) return `${base}-${number}`;
}

/** The value of `--server`: a URL, or a profile's name. */
export function readServerOption(text: string): { readonly url: string } | { readonly name: string } {
  const url = parseServerUrl(text);
  if (url !== undefined) return { url };
  if (namePattern.test(text)) return { name: text };
  throw usageError(
    `"${text}" is neither a server's URL nor a profile's name.`,
    meantServerUrl(text) ?? 'A URL looks like https://plugins.example.org.',
  );
}
