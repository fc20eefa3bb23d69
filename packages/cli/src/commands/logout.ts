import { type Command, withJson, withServerChoice } from '../command.ts';
import { type Credentials, withoutProfiles } from '../credentials.ts';
import { type CredentialsPlace, readCredentials, updateCredentials } from '../credentials-file.ts';
import { parseTimeout } from '../duration.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { revokeToken } from '../login/oauth-client.ts';
import { createReporter } from '../output.ts';
import { type NamedProfile, profileOfServer } from '../profiles.ts';
import { findQuickstart, type QuickstartPlace } from '../quickstart.ts';
import { type ConnectionOptions, chooseServer } from '../server-choice.ts';
import { parseServerUrl } from '../server-url.ts';
import { type CommonOptions, timeoutMs } from '../session.ts';
import { formatTime } from '../text.ts';

interface Options extends CommonOptions {
  readonly all?: boolean;
}

export function addLogoutCommand(program: Command, io: Io): void {
  program
    .command('logout')
    .description('log out: revoke the token at the server, and delete the login here')
    .option('--profile <profile>', 'the login to end (default: TENON_PROFILE, else the current one)')
    .option('--all', 'end all logins')
    .option(
      '--timeout <duration>',
      'delete it here even if the server does not respond for this long (default: 60s)',
      parseTimeout,
    )
    .use(withJson, withServerChoice)
    .examples('tenon logout', 'tenon logout --profile work', 'tenon logout --all')
    .action((options: Options) => logout(io, options));
}

interface Ended {
  readonly login: NamedProfile;
  /** Why the token could not be revoked. */
  readonly failure: CliError | undefined;
}

async function logout(io: Io, options: Options): Promise<void> {
  const out = createReporter(io, options.json === true);
  const place: CredentialsPlace = { ...io, warn: out.warn };
  const logins = chooseLogins(options, place);
  const ended = await io.interruptible((signal) =>
    Promise.all(logins.map((login) => end(login, { fetch: io.fetch, timeoutMs: timeoutMs(options), signal }))),
  );
  if (logins.length > 0) await forget(place, logins);
  for (const { login, failure } of ended) {
    const { name, profile } = login;
    out.note(`Logged out of ${profile.url} (${name}).`);
    if (failure !== undefined) {
      out.warn(`The token was not revoked, and works until ${formatTime(profile.expiresAt)}. ${failure.message}`);
    }
  }
  const result = ended.map(({ login: { name, profile }, failure }) => {
    const { url, tokenId, expiresAt } = profile;
    return { profile: name, url, tokenId, revoked: failure === undefined, expiresAt };
  });
  out.result(result, () => {
    if (ended.length === 0) out.note('You were not logged in anywhere.');
  });
}

function chooseLogins(options: Options, place: CredentialsPlace): readonly NamedProfile[] {
  const credentials = readCredentials(place);
  if (options.all) return [...credentials.profiles].map(([name, profile]) => ({ name, profile }));
  const choice = choose(options, place, credentials);
  const login = choice?.login ?? (choice && profileOfServer(credentials, choice.url, place.environment.TENON_PROFILE));
  if (login !== undefined) return [login];
  const what =
    choice === undefined ? 'Out of which login? None is the current one.' : `You are not logged in to ${choice.url}.`;
  throw new CliError('not_logged_in', what, {
    exitCode: exitCodes.denied,
    hint: 'To see your logins: tenon profile list',
  });
}

function choose(options: ConnectionOptions, place: QuickstartPlace, credentials: Credentials) {
  const { environment } = place;
  const quickstartUrl = parseServerUrl(findQuickstart(options.dataDir, place).values.TENON_URL ?? '');
  return chooseServer(options, { environment, logins: () => credentials, quickstartUrl });
}

async function end(
  login: NamedProfile,
  how: { readonly fetch: typeof fetch; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Ended> {
  const { url, token } = login.profile;
  try {
    await revokeToken({ ...how, url }, token);
    return { login, failure: undefined };
  } catch (error) {
    if (how.signal.aborted || !(error instanceof CliError)) throw error;
    return { login, failure: error };
  }
}

/** Removes logins from the file, except those renewed in the meantime. */
async function forget(place: CredentialsPlace, logins: readonly NamedProfile[]): Promise<void> {
  await updateCredentials(place, (present) => {
    const unchanged = logins.filter(({ name, profile }) => present.profiles.get(name)?.token === profile.token);
    return withoutProfiles(present, new Set(unchanged.map(({ name }) => name)));
  });
}
