import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { idPattern, memberRole } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { faultsOf } from '@tenon/protocol/validate';
import type { Static } from 'typebox';
import { isLoopback } from './listen-address.ts';
import type { Reader } from './readers.ts';

/* The file that `TENON_SIGN_IN_PROVIDERS` names: JSON with the OpenID Connect providers. */

const strict = { additionalProperties: false } as const;
const shortText = Type.String({ minLength: 1, maxLength: 300 });
const claimName = Type.String({ minLength: 1, maxLength: 200 });

const groupRule = Type.Union([
  Type.Object({ group: shortText, role: Type.Literal('operator') }, strict),
  Type.Object({ group: shortText, role: memberRole, app: Type.String({ pattern: idPattern('app') }) }, strict),
]);

/** Gives a role to the users in a group of the provider. */
export type GroupRule = Static<typeof groupRule>;

const provider = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,39}$' }),
    label: Type.String({ minLength: 1, maxLength: 60 }),
    issuer: shortText,
    clientId: shortText,
    clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    clientSecretFile: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    scopes: Type.Optional(Type.Array(Type.String({ pattern: '^[!#-\\[\\]-~]+$', maxLength: 200 }), { maxItems: 30 })),
    emailClaim: Type.Optional(claimName),
    nameClaim: Type.Optional(claimName),
    verifiesEmails: Type.Optional(Type.Boolean()),
    linksByEmail: Type.Optional(Type.Boolean()),
    createsAccounts: Type.Optional(
      Type.Union([
        Type.Boolean(),
        Type.Array(Type.String({ pattern: '^[a-z0-9.-]+$', maxLength: 253 }), { minItems: 1, maxItems: 100 }),
      ]),
    ),
    groupClaim: Type.Optional(claimName),
    rules: Type.Optional(Type.Array(groupRule, { maxItems: 500 })),
    prompt: Type.Optional(Type.Enum(['login', 'consent', 'select_account'])),
  },
  strict,
);

const providersFile = Type.Object(
  { passwordSignIn: Type.Optional(Type.Boolean()), providers: Type.Array(provider, { maxItems: 20 }) },
  strict,
);

/** A sign-in provider: an OpenID Connect issuer, and how its users map to accounts. */
export interface ProviderSettings {
  /** Part of the redirect URI. */
  readonly id: string;
  /** The name on the button. */
  readonly label: string;
  readonly issuer: string;
  readonly clientId: string;
  /** `undefined` for a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  readonly emailClaim: string;
  readonly nameClaim: string;
  /** Whether the provider's addresses count as verified without the claim `email_verified`. */
  readonly verifiesEmails: boolean;
  /** Whether a verified address of the provider opens the account with the same verified address. */
  readonly linksByEmail: boolean;
  /** Whether a first sign-in creates an account; a list restricts it to domains of e-mail addresses. */
  readonly createsAccounts: boolean | readonly string[];
  /** The claim with the user's groups. */
  readonly groupClaim: string;
  readonly rules: readonly GroupRule[];
  readonly prompt: 'login' | 'consent' | 'select_account' | undefined;
}

export interface SignInSettings {
  /** Whether users may sign in and sign up with a password. */
  readonly passwordSignIn: boolean;
  readonly providers: readonly ProviderSettings[];
  /** Problems of the file that don't prevent the start. */
  readonly warnings: readonly string[];
}

/** Without the file: passwords only. */
export const passwordsOnly: SignInSettings = { passwordSignIn: true, providers: [], warnings: [] };

const maxFileBytes = 1024 * 1024;

/** Reads the file at a path. Relative paths of secrets in it are relative to its folder. */
export const signInProviders: Reader<SignInSettings> = (path) => {
  const content = parse(path);
  const faults = faultsOf(providersFile, content).map(({ pointer, detail }) => `${pointer || '/'} ${detail}`);
  if (faults.length > 0) throw faultsIn(path, faults);
  const { passwordSignIn = true, providers } = content as Static<typeof providersFile>;
  const warnings = warningsOf(path);
  const settings = providers.map((one, index) => {
    const where = `/providers/${index}`;
    if (providers.findIndex(({ id }) => id === one.id) !== index) faults.push(`${where}/id is used twice: ${one.id}`);
    return toSettings(one, { path, where, faults, warnings });
  });
  if (!passwordSignIn && providers.length === 0) faults.push('/passwordSignIn is false, and there is no provider');
  if (faults.length > 0) throw faultsIn(path, faults);
  return { passwordSignIn, providers: settings, warnings };
};

function faultsIn(path: string, faults: readonly string[]): Error {
  return new Error(`names the file ${path}, which is not valid: ${faults.join('; ')}`);
}

function parse(path: string): unknown {
  const text = readSmallFile(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw faultsIn(path, [`it is not JSON: ${withoutContent(error)}`]);
  }
}

/** Removes the excerpt from a message of `JSON.parse()`, because it may contain a secret. */
function withoutContent(error: unknown): string {
  const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(error instanceof Error ? error.message : '');
  return place === null ? 'unexpected end or token' : `unexpected token ${place[0]}`;
}

function readSmallFile(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > maxFileBytes) throw new Error(`it has ${size} bytes, and ${maxFileBytes} is the maximum`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`names a file that can't be read: ${error instanceof Error ? error.message : error}`);
  }
}

interface Place {
  readonly path: string;
  readonly where: string;
  readonly faults: string[];
  readonly warnings: string[];
}

function toSettings(one: Static<typeof provider>, { path, where, faults, warnings }: Place): ProviderSettings {
  const issuerFault = faultOfIssuer(one.issuer);
  if (issuerFault !== undefined) faults.push(`${where}/issuer ${issuerFault}`);
  const { clientSecretFile, rules = [], groupClaim } = one;
  let { clientSecret } = one;
  if (clientSecret !== undefined && clientSecretFile !== undefined) {
    faults.push(`${where}/clientSecretFile can't be used together with clientSecret`);
  } else if (clientSecretFile !== undefined) {
    try {
      const file = resolve(dirname(path), clientSecretFile);
      clientSecret = readSmallFile(file).trim();
      if (clientSecret === '') faults.push(`${where}/clientSecretFile names an empty file`);
      warnings.push(...warningsOf(file));
    } catch (error) {
      faults.push(`${where}/clientSecretFile ${error instanceof Error ? error.message : error}`);
    }
  }
  if (rules.length > 0 && groupClaim === undefined) faults.push(`${where}/groupClaim is required with rules`);
  return {
    id: one.id,
    label: one.label,
    issuer: one.issuer,
    clientId: one.clientId,
    clientSecret,
    scopes: [...new Set(['openid', ...(one.scopes ?? ['email', 'profile'])])],
    emailClaim: one.emailClaim ?? 'email',
    nameClaim: one.nameClaim ?? 'name',
    verifiesEmails: one.verifiesEmails ?? false,
    linksByEmail: one.linksByEmail ?? false,
    createsAccounts: one.createsAccounts ?? false,
    groupClaim: groupClaim ?? 'groups',
    rules,
    prompt: one.prompt,
  };
}

/** Returns why an issuer is not accepted. Plain http is for providers on this machine only. */
function faultOfIssuer(issuer: string): string | undefined {
  const url = URL.parse(issuer);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'must be an https URL';
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    return 'must be a URL without credentials, query and fragment';
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return 'must be an https URL; http is for loopback only';
  return undefined;
}

function warningsOf(path: string): string[] {
  const { mode } = statSync(path);
  if (process.platform === 'win32' || (mode & 0o077) === 0) return [];
  const octal = (mode & 0o777).toString(8).padStart(3, '0');
  return [
    `other users of this machine can access ${path} (mode ${octal}), which may hold client secrets; use chmod 600`,
  ];
}
