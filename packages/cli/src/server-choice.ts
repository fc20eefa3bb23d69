import type { Credentials } from './credentials.ts';
import type { Environment } from './environment.ts';
import { usageError } from './errors.ts';
import { assertProfile, type NamedProfile, readServerOption } from './profiles.ts';
import { assertServerUrl } from './server-url.ts';

/** The options that choose the server. */
export interface ConnectionOptions {
  /** A URL, or a profile's name. */
  readonly server?: string | undefined;
  readonly profile?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** The server that a command is about. */
export interface ServerChoice {
  /** `{base_url}`, without a slash at the end. */
  readonly url: string;
  /** The option or variable that named it. */
  readonly by: 'option' | 'tenon.toml' | 'environment' | 'current login' | 'quickstart';
  /** The login, where it was named by one. */
  readonly login?: NamedProfile;
}

/** Sources of the server other than options. */
export interface ServerSources {
  readonly environment: Environment;
  /** The `server` of the plugin's `tenon.toml`: a URL, or a profile's name. */
  readonly projectServer?: string | undefined;
  /** Reads the logins. That is left until they are needed: with a URL and a token at hand they don't matter. */
  readonly logins: () => Credentials;
  /** The server whose data folder is named, or here. */
  readonly quickstartUrl: string | undefined;
}

/**
 * Chooses the server: what the command line names, else the plugin's `tenon.toml`, else the environment, else the current
 * login, else `quickstart.env` in `./tenon-data`. A data folder that is named, rather than found, names its server.
 *
 * @returns `undefined` when nothing names one
 * @throws CliError when what names it is wrong
 */
export function chooseServer(options: ConnectionOptions, sources: ServerSources): ServerChoice | undefined {
  const { environment, quickstartUrl } = sources;
  return (
    byOptions(options, sources) ??
    byProject(sources) ??
    byEnvironment(sources) ??
    byCurrentLogin(sources) ??
    (quickstartUrl === undefined ? undefined : { url: quickstartUrl, by: 'quickstart' })
  );

  function byEnvironment({ logins }: ServerSources): ServerChoice | undefined {
    const { TENON_URL: url, TENON_PROFILE: name, TENON_DATA_DIR: dataDir } = environment;
    if (url) return { url: assertServerUrl(url), by: 'environment' };
    if (name) return byName(logins(), name, 'environment');
    return dataDir && quickstartUrl !== undefined ? { url: quickstartUrl, by: 'environment' } : undefined;
  }
}

function byOptions(options: ConnectionOptions, { logins, quickstartUrl }: ServerSources): ServerChoice | undefined {
  const { server: text, profile, dataDir } = options;
  const byProfile = profile === undefined ? undefined : byName(logins(), profile, 'option');
  if (text !== undefined) {
    const read = readServerOption(text);
    const byServer: ServerChoice = 'url' in read ? { ...read, by: 'option' } : byName(logins(), read.name, 'option');
    if (byProfile === undefined || byProfile.url === byServer.url) return byProfile ?? byServer;
    throw usageError(
      `The profile "${profile}" is for ${byProfile.url}, not for ${byServer.url}.`,
      'Name one of the two.',
    );
  }
  if (byProfile !== undefined) return byProfile;
  return dataDir !== undefined && quickstartUrl !== undefined ? { url: quickstartUrl, by: 'option' } : undefined;
}

function byProject({ projectServer, logins }: ServerSources): ServerChoice | undefined {
  if (projectServer === undefined) return undefined;
  const read = readServerOption(projectServer);
  return 'url' in read ? { ...read, by: 'tenon.toml' } : byName(logins(), read.name, 'tenon.toml');
}

function byCurrentLogin({ logins }: ServerSources): ServerChoice | undefined {
  const credentials = logins();
  return credentials.current === undefined ? undefined : byName(credentials, credentials.current, 'current login');
}

function byName(credentials: Credentials, name: string, by: ServerChoice['by']): ServerChoice {
  const login = assertProfile(credentials, name);
  return { url: login.profile.url, by, login };
}
