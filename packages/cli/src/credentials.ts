import { tokenScope } from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { faultsOf, isValid } from '@tenon/protocol/validate';
import type { Static } from 'typebox';
import { CliError } from './errors.ts';

/** The name of a login: never a URL or an option, and one word in every shell. */
export const profileNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$';

/** A login at one server. */
export const profile = Type.Object({
  url: Type.String({ description: '`{base_url}` of the server that gave the token, and the only one that gets it' }),
  token: Type.String({ minLength: 1 }),
  tokenId: Type.Optional(Type.String()),
  scopes: Type.Array(tokenScope),
  expiresAt: Type.String({ description: 'ISO 8601, UTC' }),
  user: Type.Object({ id: Type.String(), name: Type.String(), email: Type.Union([Type.String(), Type.Null()]) }),
});
export type Profile = Static<typeof profile>;

/** All logins of one user of this machine. */
export interface Credentials {
  readonly profiles: ReadonlyMap<string, Profile>;
  /** The login that is used where nothing names a server. */
  readonly current: string | undefined;
}

export const noCredentials: Credentials = { profiles: new Map(), current: undefined };

/** The version of the file's form. A form that older versions of tenon would misread gets the next number. */
const version = 1;

const fileForm = Type.Object({
  version: Type.Literal(version),
  current: Type.Union([Type.String(), Type.Null()]),
  profiles: Type.Record(Type.String({ pattern: profileNamePattern }), profile, { additionalProperties: false }),
});

/**
 * Reads the text of a credentials file.
 *
 * @param path where it comes from, for the error
 * @throws CliError `credentials_damaged` when it is not what {@link formatCredentials} writes
 */
export function parseCredentials(text: string, path: string): Credentials {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw damaged(path, 'it is not JSON'); // The parser's message quotes the text, which contains tokens.
  }
  if (isValid(Type.Object({ version: Type.Integer({ exclusiveMinimum: version }) }), content)) {
    throw new CliError('credentials_newer', `The logins in ${path} were written by a newer tenon.`, {
      hint: 'Run that one, or keep the logins of this one elsewhere: TENON_CONFIG_DIR.',
    });
  }
  if (!isValid(fileForm, content)) {
    const [fault] = faultsOf(fileForm, content);
    throw damaged(path, `${fault?.pointer || 'the whole'} ${fault?.detail ?? 'is not as expected'}`);
  }
  const profiles = new Map(Object.entries(content.profiles));
  return { profiles, current: content.current !== null && profiles.has(content.current) ? content.current : undefined };
}

/** The text of a credentials file. */
export function formatCredentials({ profiles, current }: Credentials): string {
  const content = { version, current: current ?? null, profiles: Object.fromEntries(profiles) };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Credentials with a profile set, which becomes the current one. */
export function withProfile({ profiles }: Credentials, name: string, added: Profile): Credentials {
  return { profiles: new Map(profiles).set(name, added), current: name };
}

/** Credentials without some profiles. Where the current one goes, none is: another server is never chosen unasked. */
export function withoutProfiles({ profiles, current }: Credentials, names: ReadonlySet<string>): Credentials {
  return {
    profiles: new Map([...profiles].filter(([name]) => !names.has(name))),
    current: current !== undefined && names.has(current) ? undefined : current,
  };
}

function damaged(path: string, why: string): CliError {
  return new CliError('credentials_damaged', `The file of logins ${path} is damaged: ${why}.`, {
    hint: 'It is left as it is. Mend it, or move it away and log in again: tenon login',
  });
}
