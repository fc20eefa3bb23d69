import { typeidUnboxed } from 'typeid-js';

/**
 * What each kind of id begins with. Ids are TypeIDs: prefix, `_`, 26 characters of Crockford's base 32 over a UUIDv7,
 * so ids of one kind sort by the time they were made.
 */
export const idPrefixes = {
  app: 'app',
  extensionPoint: 'ext',
  user: 'usr',
  guest: 'gst',
  invitation: 'inv',
  version: 'ver',
  token: 'tok',
  apiKey: 'key',
  session: 'ses',
  oneTimeLink: 'lnk',
  deviceGrant: 'dev',
  auditEvent: 'evt',
  process: 'prc',
} as const;

/** The kinds of things that have an id of their own. */
export type IdKind = keyof typeof idPrefixes;

/** An id of one kind. Distinct types keep an application's id out of a place where a user's belongs. */
export type Id<K extends IdKind> = `${(typeof idPrefixes)[K]}_${string}`;

export type AppId = Id<'app'>;
export type ExtensionPointId = Id<'extensionPoint'>;
export type UserId = Id<'user'>;
export type GuestId = Id<'guest'>;
export type InvitationId = Id<'invitation'>;
export type VersionId = Id<'version'>;
export type TokenId = Id<'token'>;
export type ApiKeyId = Id<'apiKey'>;
export type SessionId = Id<'session'>;
export type OneTimeLinkId = Id<'oneTimeLink'>;
export type DeviceGrantId = Id<'deviceGrant'>;
export type AuditEventId = Id<'auditEvent'>;
export type ProcessId = Id<'process'>;

/** A regular expression's source that an id of the kind matches whole. */
export function idPattern(kind: IdKind): string {
  return `^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
}

const patterns = new Map<string, RegExp>(
  Object.keys(idPrefixes).map((kind) => [kind, new RegExp(idPattern(kind as IdKind))]),
);

/** Makes an id of the kind that no one has had before. */
export function newId<K extends IdKind>(kind: K): Id<K> {
  return typeidUnboxed(idPrefixes[kind]) as unknown as Id<K>;
}

/** Whether a text is a well-formed id of the kind. Says nothing on whether such a thing exists. */
export function isId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  return patterns.get(kind)?.test(text) ?? false;
}
