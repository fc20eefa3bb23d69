import { type Me, me as meSchema, type OauthToken, type TokenScope } from '@tenon/protocol';
import { createApi } from '../api.ts';
import { type Command, withJson, withServerChoice } from '../command.ts';
import { type Credentials, type Profile, withProfile } from '../credentials.ts';
import {
  assertWritableCredentials,
  type CredentialsPlace,
  readCredentials,
  updateCredentials,
} from '../credentials-file.ts';
import { parseTimeout } from '../duration.ts';
import { CliError, usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { canOpenBrowser } from '../login/browser.ts';
import { logInByDevice } from '../login/device-login.ts';
import { logInByLoopback } from '../login/loopback-login.ts';
import { readMetadata, revokeToken } from '../login/oauth-client.ts';
import { createReporter, type Reporter } from '../output.ts';
import { assertProfileName, nameForServer, profileOfServer } from '../profiles.ts';
import { findQuickstart, type QuickstartPlace } from '../quickstart.ts';
import { parseScopes } from '../scopes.ts';
import { chooseServer } from '../server-choice.ts';
import { isPrivatePath, parseServerUrl } from '../server-url.ts';
import { type CommonOptions, timeoutMs } from '../session.ts';
import { createStyle, formatTime, hasColours, printable } from '../text.ts';
import type { Target } from '../transport.ts';

interface Options extends CommonOptions {
  readonly scope?: readonly TokenScope[];
  readonly device?: boolean;
  /** `--no-browser` makes it false. */
  readonly browser: boolean;
  readonly name?: string;
}

export function addLoginCommand(program: Command, io: Io): void {
  program
    .command('login')
    .description('log in to a server: approve the login in your browser; commands then use it')
    .option('--profile <profile>', "the name of the login (default: the server's host name)")
    .option(
      '--scope <scopes>',
      'read, publish, manage; separate several by commas (default: read,publish)',
      parseScopes,
    )
    .option('--device', 'approve it in a browser on another device (default over SSH and without a display)')
    .option('--no-browser', "don't open a browser; show the URL")
    .option('--name <device>', 'the name of this machine on the approval page (default: its host name)')
    .option('--timeout <duration>', 'fail if the server does not respond for this long (default: 60s)', parseTimeout)
    .use(withJson, withServerChoice)
    .examples(
      'tenon login --server https://plugins.example.org',
      'tenon login --server https://plugins.example.org --profile work --scope read,publish,manage',
      'tenon login --device',
    )
    .action((options: Options) => login(io, options));
}

async function login(io: Io, options: Options): Promise<void> {
  const out = createReporter(io, options.json === true);
  const place: LoginPlace = { ...io, warn: out.warn };
  const { url, name, foundIn } = chooseLogin(options, place);
  if (foundIn !== undefined) out.note(`Logging in to ${url}, the server in ${printable(foundIn)}.`);
  await assertWritableCredentials(place);
  if (!isPrivatePath(url)) out.warn(`${url} has no TLS: others on the network can read the token.`);
  await io.interruptible(async (signal) => {
    const target: Target = { url, fetch: io.fetch, timeoutMs: timeoutMs(options), signal };
    const granted = await authorize(io, options, target);
    const me = await keepingHold(target, granted, () => store(place, target, name, granted));
    report(out, { url, name, me: me.me, path: me.path, asked: options.scope });
    if (me.replaced !== undefined) await giveUp(target, me.replaced);
    warnOfEnvironment(out, io, url, name);
  });
}

type LoginPlace = CredentialsPlace & QuickstartPlace;

interface LoginChoice {
  readonly url: string;
  /** The name of the login. */
  readonly name: string;
  /** The `quickstart.env` that was found, where nothing else names the server. */
  readonly foundIn: string | undefined;
}

function chooseLogin(options: Options, place: LoginPlace): LoginChoice {
  const { environment } = place;
  const credentials = readCredentials(place);
  const wanted = options.profile === undefined ? undefined : assertProfileName(options.profile);
  const isKnown = wanted !== undefined && credentials.profiles.has(wanted);
  const { values, file } = findQuickstart(options.dataDir, place);
  const quickstartUrl = parseServerUrl(values.TENON_URL ?? '');
  const choice = chooseServer(
    { ...options, profile: isKnown ? wanted : undefined },
    { environment, logins: () => credentials, quickstartUrl },
  );
  if (choice === undefined) {
    throw usageError('Which server?', 'Name it: tenon login --server https://plugins.example.org');
  }
  const { url, login, by } = choice;
  const name = wanted ?? login?.name ?? presentName(credentials, url, environment.TENON_PROFILE);
  return { url, name, foundIn: by === 'quickstart' ? file : undefined };
}

function presentName(credentials: Credentials, url: string, wanted: string | undefined): string {
  return profileOfServer(credentials, url, wanted)?.name ?? nameForServer(credentials, url);
}

async function authorize(io: Io, options: Options, target: Target): Promise<OauthToken> {
  const metadata = await readMetadata(target);
  const loginRequest = { scopes: options.scope, deviceName: printable(options.name ?? io.hostName).slice(0, 100) };
  const style = createStyle(hasColours(io.stderr, io.environment));
  const context = { io, target, metadata, loginRequest, style };
  const isHere = options.device !== true && canOpenBrowser(io.environment, io.platform);
  const granted = isHere ? await logInByLoopback(context, options.browser) : await logInByDevice(context);
  if (/^[\x21-\x7e]+$/.test(granted.access_token)) return granted;
  throw new CliError('unexpected_response', 'The server returned an invalid token.');
}

/** Stores a new token. If that fails, the token is revoked. */
async function keepingHold<T>(target: Target, { access_token }: OauthToken, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await giveUp(target, access_token);
    throw error;
  }
}

const giveUpTimeoutMs = 5_000;

/** Revokes an unused token. If that fails, it expires. */
async function giveUp(target: Target, token: string): Promise<void> {
  const signal = AbortSignal.timeout(giveUpTimeoutMs);
  await revokeToken({ ...target, timeoutMs: giveUpTimeoutMs, signal }, token).catch(() => {});
}

interface Stored {
  readonly me: Me;
  readonly path: string;
  /** The token that the login had before. */
  readonly replaced: string | undefined;
}

async function store(
  place: CredentialsPlace,
  target: Target,
  name: string,
  { access_token: token }: OauthToken,
): Promise<Stored> {
  const me = await createApi({ ...target, token }).get('/api/v1/me', meSchema);
  const profile: Profile = {
    url: target.url,
    token,
    tokenId: me.token.id,
    scopes: me.token.scopes,
    expiresAt: me.token.expiresAt,
    user: { id: me.id, name: me.name, email: me.email },
  };
  let before: Profile | undefined;
  const path = await updateCredentials(place, (present) => {
    before = present.profiles.get(name);
    if (before !== undefined && before.url !== target.url) {
      throw new CliError('profile_taken', `The profile "${name}" is for ${before.url} by now.`, {
        hint: 'Choose another name with --profile.',
      });
    }
    return withProfile(present, name, profile);
  });
  return { me, path, replaced: before?.token };
}

interface Done {
  readonly url: string;
  readonly name: string;
  readonly me: Me;
  readonly path: string;
  readonly asked: readonly TokenScope[] | undefined;
}

function report(out: Reporter, { url, name, me, path, asked }: Done): void {
  const { id: tokenId, scopes, expiresAt } = me.token;
  out.note(`Logged in to ${url}.`);
  const withheld = asked?.filter((scope) => !scopes.includes(scope)) ?? [];
  if (withheld.length > 0) out.note(`Not granted: ${withheld.join(', ')}.`);
  const user = { id: me.id, name: me.name, email: me.email };
  out.result({ profile: name, url, user, tokenId, scopes, expiresAt, file: path }, () =>
    out.fields([
      ['you are', me.email === null ? me.name : `${me.name} (${me.email})`],
      ['scopes', scopes.join(', ')],
      ['until', formatTime(expiresAt)],
      ['profile', `${name}, the current one from now on`],
      ['kept in', path],
    ]),
  );
}

/** A login that commands won't use, because variables go before it, would puzzle. */
function warnOfEnvironment(out: Reporter, { environment }: Io, url: string, name: string): void {
  const { TENON_URL, TENON_TOKEN, TENON_PROFILE } = environment;
  const isElsewhere = Boolean(TENON_URL) && parseServerUrl(TENON_URL ?? '') !== url;
  if (isElsewhere) out.warn('TENON_URL names another server, and goes before this login.');
  else if (TENON_TOKEN) out.warn('TENON_TOKEN is set, and goes before this login.');
  else if (TENON_PROFILE && TENON_PROFILE !== name && !TENON_URL) {
    out.warn('TENON_PROFILE names another login, and goes before this one.');
  }
}
