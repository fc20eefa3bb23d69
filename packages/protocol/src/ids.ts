/**
 * The prefix of each kind of id. Ids are TypeIDs: the prefix, `_`, and 26 characters of Crockford's base 32 that encode a UUIDv7. Ids of
 * one kind therefore sort by creation time.
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
  passkey: 'psk',
  identity: 'idn',
  oneTimeLink: 'lnk',
  mail: 'mal',
  deviceGrant: 'dev',
  auditEvent: 'evt',
  process: 'prc',
  simulation: 'sim',
  simulationRun: 'run',
  trustRule: 'tru',
  attestation: 'atn',
  webhook: 'whk',
  webhookSecret: 'whs',
  webhookDelivery: 'whd',
  ociUpload: 'upl',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** An id of one kind. The types are distinct, so that the compiler rejects an application's id where a user's is expected. */
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
export type PasskeyId = Id<'passkey'>;
export type IdentityId = Id<'identity'>;
export type OneTimeLinkId = Id<'oneTimeLink'>;
export type MailId = Id<'mail'>;
export type DeviceGrantId = Id<'deviceGrant'>;
export type AuditEventId = Id<'auditEvent'>;
export type ProcessId = Id<'process'>;
export type SimulationId = Id<'simulation'>;
export type SimulationRunId = Id<'simulationRun'>;
export type TrustRuleId = Id<'trustRule'>;
export type AttestationId = Id<'attestation'>;
export type WebhookId = Id<'webhook'>;
export type WebhookSecretId = Id<'webhookSecret'>;
export type WebhookDeliveryId = Id<'webhookDelivery'>;
export type OciUploadId = Id<'ociUpload'>;

/** The source of a regular expression that matches an id of the kind. */
export function idPattern(kind: IdKind): string {
  return `^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
}

const patterns = new Map<string, RegExp>(
  Object.keys(idPrefixes).map((kind) => [kind, new RegExp(idPattern(kind as IdKind))]),
);

/** Creates an id of the kind. It sorts after all earlier ids of this process. */
export function newId<K extends IdKind>(kind: K): Id<K> {
  const digits = Array.from(uuidV7().toString(32).padStart(26, '0'), (digit) => base32[Number.parseInt(digit, 32)]);
  return `${idPrefixes[kind]}_${digits.join('')}` as Id<K>;
}

/** Crockford's alphabet. */
const base32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** The time and the sequence number of the newest id. */
let newest = { ms: 0, sequence: 0 };

/** Creates a UUIDv7 with a sequence number of 32 bits after the time: https://www.rfc-editor.org/rfc/rfc9562#section-6.2, method 1 */
function uuidV7(): bigint {
  const [first = 0, second = 0, third = 0] = crypto.getRandomValues(new Uint32Array(3));
  const nowMs = Date.now();
  if (nowMs > newest.ms) newest = { ms: nowMs, sequence: first >>> 1 };
  else newest = { ms: newest.ms, sequence: newest.sequence + 1 };
  const sequence = BigInt(newest.sequence);
  const random = (BigInt(second & 0x3ff) << 32n) | BigInt(third);
  const version = 0x7n;
  const variant = 0b10n;
  const high = (BigInt(newest.ms) << 16n) | (version << 12n) | (sequence >> 20n);
  return (high << 64n) | (variant << 62n) | ((sequence & 0xfffffn) << 42n) | random;
}

/** Whether a text is a well-formed id of the kind, which need not exist. */
export function isId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  return patterns.get(kind)?.test(text) ?? false;
}
