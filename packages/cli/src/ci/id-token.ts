import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError, usageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { printable } from '../text.ts';

/** The claims of an identity token that rules of trusted publishing usually name. */
const shownClaims = [
  'iss',
  'sub',
  'aud',
  'repository',
  'repository_id',
  'project_path',
  'project_id',
  'environment',
  'ref',
  'job_workflow_ref',
];

const maxResponseBytes = 64 * 1024;

interface IdTokenPlace {
  readonly io: Pick<Io, 'environment' | 'fetch' | 'workingFolder'>;
  /** The server's URL, for which the token must be. */
  readonly audience: string;
  readonly file: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Finds the identity token of this CI job: in a file, in TENON_ID_TOKEN, or from GitHub Actions or Forgejo Actions.
 *
 * @returns `undefined` outside of CI
 * @throws CliError in a job that has no identity token, and for a token with another audience, which could be used elsewhere
 */
export async function findIdToken(place: IdTokenPlace): Promise<string | undefined> {
  const { io, audience, file } = place;
  const { environment } = io;
  const token = await readIdToken(place);
  if (token === undefined) {
    if (environment.GITHUB_ACTIONS || environment.FORGEJO_ACTIONS) throw noIdToken(githubHint);
    if (environment.GITLAB_CI) throw noIdToken(gitlabHint(audience));
    return undefined;
  }
  const claims = claimsOf(token);
  if (claims === undefined) throw usageError(`${file ?? 'The identity token'} is not a JWT.`);
  const { aud } = claims;
  if (aud === audience || (Array.isArray(aud) && aud.length === 1 && aud[0] === audience)) return token;
  throw new CliError(
    'id_token_audience',
    `The identity token is for ${printable(JSON.stringify(aud))}, and was not sent to ${audience}.`,
    { exitCode: exitCodes.denied, hint: `Request it for the audience ${audience}, exactly as in TENON_URL.` },
  );
}

async function readIdToken({ io, audience, file, signal }: IdTokenPlace): Promise<string | undefined> {
  const { environment, workingFolder } = io;
  if (file !== undefined) {
    return (
      await readFile(resolve(workingFolder, file), 'utf8').catch((cause) => {
        throw usageError(`Cannot read ${file}: ${cause.message}`);
      })
    ).trim();
  }
  if (environment.TENON_ID_TOKEN) return environment.TENON_ID_TOKEN.trim();
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = environment;
  return url && secret ? requestIdToken(io.fetch, url, secret, audience, signal) : undefined;
}

/** https://docs.github.com/en/actions/reference/security/oidc#methods-for-requesting-the-oidc-token */
async function requestIdToken(
  send: typeof fetch,
  url: string,
  secret: string,
  audience: string,
  signal: AbortSignal,
): Promise<string> {
  const target = URL.parse(url);
  if (target === null) throw usageError('ACTIONS_ID_TOKEN_REQUEST_URL is not a URL.');
  target.searchParams.set('audience', audience);
  try {
    const response = await send(target, {
      headers: { authorization: `Bearer ${secret}`, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(30_000)]),
    });
    const text = await response.text();
    if (!response.ok || text.length > maxResponseBytes) throw new Error(`the status is ${response.status}`);
    const { value } = JSON.parse(text) as { value?: unknown };
    if (typeof value !== 'string') throw new Error('the response has no "value"');
    return value;
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new CliError('no_id_token', `The CI service issued no identity token: ${printable(String(cause))}`, {
      exitCode: exitCodes.unavailable,
      cause,
    });
  }
}

function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the claims of an identity token that a rule can compare, a line each. */
export function describeClaims(token: string): string {
  const claims = claimsOf(token) ?? {};
  return shownClaims
    .filter((name) => claims[name] !== undefined)
    .map((name) => `  ${name}: ${printable(String(claims[name]))}`)
    .join('\n');
}

function noIdToken(hint: string): CliError {
  return new CliError('no_id_token', 'There is no access token, and this CI job has no identity token.', {
    exitCode: exitCodes.denied,
    hint,
  });
}

const githubHint = `Let the job request one, in its workflow (Forgejo: enable-openid-connect: true):
  permissions:
    id-token: write
    contents: read`;

const gitlabHint = (audience: string): string => `Let the job have one, in .gitlab-ci.yml:
  id_tokens:
    TENON_ID_TOKEN:
      aud: ${audience}`;
