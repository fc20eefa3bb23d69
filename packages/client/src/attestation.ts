import { hexOfAddress } from './content-address.ts';
import { ClientError } from './errors.ts';
import { decodeBase64, findKeys, parseTime, type TrustedKey, verifySignature } from './trusted-keys.ts';

/** Why a plugin's provenance is not verified. */
export type ProvenanceReason =
  /** The server has no publish attestation of the plugin and content. */
  | 'no_attestation'
  /** The attestations can't be fetched. */
  | 'not_fetched'
  /** The bundle, the envelope, or the statement is not in the expected form. */
  | 'malformed'
  /** The bundle names a key that is not among `trustedKeys`. */
  | 'unknown_key'
  /** The signature does not match. */
  | 'signature'
  /** The envelope contains no in-toto statement. */
  | 'payload_type'
  /** The statement has another version of in-toto. */
  | 'statement_type'
  /** The statement is no publish attestation. */
  | 'predicate_type'
  /** The statement is about other bytes. */
  | 'subject'
  /** The statement is about another plugin. */
  | 'plugin'
  /** The statement is about another extension point. */
  | 'extension_point'
  /** The version was published while the key was not valid. */
  | 'key_validity'
  /** This engine has no Ed25519. */
  | 'unsupported_runtime';

/** What the server attests of a version. */
export interface Publication {
  /** The server's public URL. */
  readonly server: string;
  /** The publisher's user id. */
  readonly publisher: string;
  readonly version: number;
  readonly semver: string | null;
  readonly publishedAt: string;
  /** `token`, `session`, or `trusted_publishing`. */
  readonly means: string;
  /** The CI job's identity, for trusted publishing. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
}

/** Whether a trusted key signed that the server published a plugin's bytes. */
export type Provenance =
  | { readonly state: 'verified'; readonly keyId: string; readonly publication: Publication }
  | { readonly state: 'failed' | 'absent'; readonly reason: ProvenanceReason; readonly detail: string };

/** What an attestation must be about. */
export interface AttestedPlugin {
  /** `ext_…/plugin/usr_…/<name>` */
  readonly id: string;
  readonly extensionPointId: string;
  readonly contentAddress: string;
}

export const publishPredicateType = 'urn:tenon:attestation:publish:v1';

const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const payloadType = 'application/vnd.in-toto+json';
const statementType = 'https://in-toto.io/Statement/v1';

/** Longer texts are rejected unread. A publish attestation has about 2 KiB. */
const maxPublishTextChars = 64 * 1024;

/**
 * Verifies a publish attestation: a Sigstore bundle v0.3 with an in-toto statement in a DSSE envelope.
 *
 * @throws ClientError `invalid_option` if a trusted key contradicts its id
 */
export async function verifyAttestation(
  bundle: unknown,
  plugin: AttestedPlugin,
  keys: readonly TrustedKey[],
): Promise<Provenance> {
  try {
    return await verify(bundle, plugin, keys);
  } catch (error) {
    if (error instanceof ClientError && error.reason !== undefined) {
      return { state: 'failed', reason: error.reason as ProvenanceReason, detail: error.message };
    }
    throw error;
  }
}

async function verify(bundle: unknown, plugin: AttestedPlugin, keys: readonly TrustedKey[]): Promise<Provenance> {
  const { keyId, validKeys, statement } = await openBundle(bundle, keys);
  const predicate = readStatement(statement, plugin);
  const { publication, publishedMs } = readPublication(predicate);
  if (!validKeys.some(({ validFromMs, validUntilMs }) => validFromMs <= publishedMs && publishedMs <= validUntilMs)) {
    throw failed('key_validity', `The key is not valid at ${publication.publishedAt}, when the version was published`);
  }
  return Object.freeze({ state: 'verified', keyId, publication });
}

/** What a trusted key signed. */
export interface SignedStatement {
  readonly keyId: string;
  /** The trusted keys with this id. Their periods are not checked. */
  readonly validKeys: readonly TrustedKey[];
  /** The JSON of the in-toto statement, of which nothing is checked. */
  readonly statement: unknown;
}

/**
 * Verifies the signature of a Sigstore bundle v0.3 with a public key.
 *
 * @param maxTextChars rejects a bundle with longer texts
 * @throws ClientError `provenance_failed`, whose `reason` is a `ProvenanceReason`
 */
export async function openBundle(
  bundle: unknown,
  keys: readonly TrustedKey[],
  maxTextChars: number = maxPublishTextChars,
): Promise<SignedStatement> {
  const envelope = readBundle(bundle, maxTextChars);
  if (envelope.payloadType !== payloadType) throw failed('payload_type', `The payload type is not "${payloadType}"`);
  const found = await findKeys(keys, envelope.keyId);
  const [first] = found;
  if (first === undefined) throw failed('unknown_key', 'The attestation is signed with a key that is not trusted');
  const isSigned = await verifySignature(first, envelope.signature, preAuthEncoding(envelope));
  if (!isSigned) throw failed('signature', 'The signature does not match the attestation');
  return { keyId: envelope.keyId, validKeys: found, statement: parseJson(envelope.payload) };
}

interface Envelope {
  readonly payloadType: string;
  readonly payload: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
  /** From the bundle's hint. */
  readonly keyId: string;
}

/** Unknown fields are rejected: a stricter verifier might read them. */
function readBundle(value: unknown, maxTextChars: number): Envelope {
  const bundle = readObject(value, 'The bundle', ['mediaType', 'verificationMaterial', 'dsseEnvelope']);
  if (bundle.mediaType !== bundleType) throw malformed(`The bundle's media type is not "${bundleType}"`);
  const material = readObject(
    bundle.verificationMaterial,
    '`verificationMaterial`',
    ['publicKey'],
    ['tlogEntries', 'timestampVerificationData'],
  );
  const { hint } = readObject(material.publicKey, '`publicKey`', ['hint']);
  const { rfc3161Timestamps = [] } = readObject(
    material.timestampVerificationData ?? {},
    'The timestamp data',
    [],
    ['rfc3161Timestamps'],
  );
  for (const entries of [material.tlogEntries ?? [], rfc3161Timestamps]) {
    if (!Array.isArray(entries) || entries.length > 0) throw malformed('The bundle has log entries or timestamps');
  }
  const envelope = readObject(bundle.dsseEnvelope, '`dsseEnvelope`', ['payloadType', 'payload', 'signatures']);
  const { signatures } = envelope;
  if (!Array.isArray(signatures) || signatures.length !== 1) throw malformed('The envelope must have one signature');
  const { sig, keyid = '' } = readObject(signatures[0], 'The signature', ['sig'], ['keyid']);
  readText(keyid, '`keyid`');
  return {
    payloadType: readText(envelope.payloadType, '`payloadType`'),
    payload: readBytes(envelope.payload, '`payload`', maxTextChars),
    signature: readBytes(sig, '`sig`'),
    keyId: readText(hint, '`hint`'),
  };
}

/** What the signature is about (https://github.com/secure-systems-lab/dsse/blob/master/protocol.md). */
function preAuthEncoding({ payloadType, payload }: Envelope): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const type = encoder.encode(payloadType);
  const head = encoder.encode(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `);
  const encoded = new Uint8Array(head.length + payload.length);
  encoded.set(head);
  encoded.set(payload, head.length);
  return encoded;
}

function readStatement(value: unknown, { id, extensionPointId, contentAddress }: AttestedPlugin) {
  const { _type: type, predicateType, subject, predicate } = readFields(value, 'The statement');
  if (type !== statementType) throw failed('statement_type', `The statement's type is not "${statementType}"`);
  if (predicateType !== publishPredicateType) {
    throw failed('predicate_type', `The predicate type is not "${publishPredicateType}"`);
  }
  if (!Array.isArray(subject) || subject.length !== 1) throw failed('subject', 'The statement must have one subject');
  const { name: subjectName, digest } = readFields(subject[0], 'The subject');
  if (readFields(digest, 'The digest').sha256 !== hexOfAddress(contentAddress)) {
    throw failed('subject', 'The attestation is about other bytes');
  }
  const fields = readFields(predicate, 'The predicate');
  if (fields.extensionPointId !== extensionPointId) {
    throw failed('extension_point', 'The attestation is about another extension point');
  }
  const { publisher, name, version } = fields;
  const isSame = fields.plugin === id && id === `${extensionPointId}/plugin/${publisher}/${name}`;
  if (!isSame || subjectName !== `${id}@${version}`) throw failed('plugin', 'The attestation is about another plugin');
  return fields;
}

function readPublication(predicate: Readonly<Record<string, unknown>>) {
  const { version, semver, publishedAt, claims } = predicate;
  const publishedMs = parseTime(publishedAt);
  if (publishedMs === undefined) throw malformed('`publishedAt` must be a time in UTC');
  if (!Number.isSafeInteger(version)) throw malformed('`version` must be an integer');
  const publication: Publication = Object.freeze({
    server: readText(predicate.server, '`server`'),
    publisher: readText(predicate.publisher, '`publisher`'),
    version: version as number,
    semver: semver === null ? null : readText(semver, '`semver`'),
    publishedAt: publishedAt as string,
    means: readText(predicate.means, '`means`'),
    claims: claims === undefined ? undefined : Object.freeze(readFields(claims, '`claims`')),
  });
  return { publication, publishedMs };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw malformed('The payload is not JSON');
  }
}

function readFields(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw malformed(`${what} must be an object`);
}

/** An object with these fields and no others. */
function readObject<R extends string, O extends string = never>(
  value: unknown,
  what: string,
  required: readonly R[],
  optional: readonly O[] = [],
): Readonly<Record<R | O, unknown>> {
  const fields = readFields(value, what);
  const names = Object.keys(fields);
  if (!required.every((name) => names.includes(name))) throw malformed(`${what} must have ${required.join(', ')}`);
  const known: readonly string[] = [...required, ...optional];
  if (!names.every((name) => known.includes(name))) throw malformed(`${what} has an unknown field`);
  return fields as Readonly<Record<R | O, unknown>>;
}

function readText(value: unknown, what: string, maxTextChars = maxPublishTextChars): string {
  if (typeof value === 'string' && value.length <= maxTextChars) return value;
  throw malformed(`${what} must be a text of at most ${maxTextChars} characters`);
}

function readBytes(value: unknown, what: string, maxTextChars?: number): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(readText(value, what, maxTextChars));
  if (bytes === undefined || bytes.length === 0) throw malformed(`${what} must be base64`);
  return bytes;
}

function malformed(detail: string): ClientError {
  return failed('malformed', detail);
}

function failed(reason: ProvenanceReason, detail: string): ClientError {
  return new ClientError('provenance_failed', detail, { reason });
}
