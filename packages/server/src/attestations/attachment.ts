import type { SerializedBundle } from '@sigstore/bundle';
import type { AttestationKind } from '@tenon/protocol';
import { DomainError } from '../http/domain-errors.ts';
import { inTotoPayloadType } from './dsse.ts';
import type { Statement } from './statement.ts';
import { parseStrictJson, StrictJsonError } from './strict-json.ts';

/** A well-formed attached document. Its signature is not verified yet. */
export type Attachment = SignedAttachment | PlainSbom;

export interface SignedAttachment {
  readonly kind: Exclude<AttestationKind, 'publish' | 'origin'>;
  readonly predicateType: string;
  readonly bundle: SerializedBundle;
  readonly statement: Statement;
}

/** A CycloneDX document without a signature. */
interface PlainSbom {
  readonly kind: 'sbom';
  readonly predicateType: string;
}

/** The maximum size of an attached document, in bytes. */
export const maxAttachmentBytes = 1024 * 1024;

const bounds = { maxDepth: 64, maxValues: 200_000 };

/** Bounds of the parts of a bundle, each of which costs the verification of a signature. */
const [maxLogEntries, maxTimestamps, maxCertificates, maxPartLength, maxHashes] = [4, 4, 8, 16 * 1024, 64];

const sbomPredicateType = 'https://cyclonedx.org/bom';

const statementTypes = ['https://in-toto.io/Statement/v1', 'https://in-toto.io/Statement/v0.1'];

function kindOf(predicateType: unknown): SignedAttachment['kind'] | undefined {
  if (predicateType === 'https://slsa.dev/provenance/v1' || predicateType === 'https://slsa.dev/provenance/v0.2') {
    return 'provenance';
  }
  const isSbom =
    typeof predicateType === 'string' && /^https:\/\/cyclonedx\.org\/bom(\/v?1\.\d{1,2})?$/.test(predicateType);
  return isSbom ? 'sbom' : undefined;
}

/**
 * Reads an attached document: a Sigstore bundle with an in-toto statement, or a CycloneDX document.
 *
 * @param pointer locates the document in errors
 * @param expected the kind that it must have; default: any
 * @throws DomainError `invalid_field`
 */
export function readAttachment(bytes: Uint8Array, pointer: string, expected?: Attachment['kind']): Attachment {
  return withPointer(pointer, () => {
    const attachment = parseAttachment(bytes);
    if (expected === undefined || attachment.kind === expected) return attachment;
    throw new StrictJsonError(`must be ${expected === 'sbom' ? 'an SBOM' : 'provenance'}, and has another predicate`);
  });
}

/** Another server's publish attestation, with the key to verify it with. Nothing is verified yet. */
export interface OriginDocument {
  /** A Sigstore bundle, as JSON text. */
  readonly text: string;
  /** In PEM. */
  readonly publicKey: string;
}

/**
 * Reads the publish attestation of another server: a JSON object with `bundle` and `publicKey`.
 *
 * @throws DomainError `invalid_field`
 */
export function readOriginDocument(bytes: Uint8Array, pointer: string): OriginDocument {
  return withPointer(pointer, () => {
    const { value } = parseStrictJson(bytes, bounds);
    if (!isObject(value) || !isObject(value['bundle']) || typeof value['publicKey'] !== 'string') {
      throw new StrictJsonError('must be a JSON object with "bundle" and "publicKey"');
    }
    const { bundle, publicKey } = value;
    readStatement(bundle as Json);
    return { text: JSON.stringify(bundle), publicKey };
  });
}

function withPointer<T>(pointer: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new DomainError('invalid_field', `The attestation ${error.message}.`, {
      errors: [{ pointer, detail: error.message }],
    });
  }
}

function parseAttachment(bytes: Uint8Array): Attachment {
  if (bytes.length > maxAttachmentBytes) throw new StrictJsonError(`must have at most ${maxAttachmentBytes} bytes`);
  const { value } = parseStrictJson(bytes, bounds);
  if (!isObject(value)) throw new StrictJsonError('must be a JSON object');
  if (value['bomFormat'] === 'CycloneDX') {
    if (typeof value['specVersion'] !== 'string') throw new StrictJsonError('must have a "specVersion"');
    return { kind: 'sbom', predicateType: sbomPredicateType };
  }
  const statement = readStatement(value);
  const kind = kindOf(statement.predicateType);
  if (kind === undefined) {
    const found = JSON.stringify(statement.predicateType)?.slice(0, 200);
    throw new StrictJsonError(
      `must have a predicate of SLSA provenance (v1 or v0.2) or of a CycloneDX SBOM, not ${found}`,
    );
  }
  const predicateType = String(statement.predicateType);
  return { kind, predicateType, bundle: value as unknown as SerializedBundle, statement };
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks the shape of a bundle, and returns the statement in its envelope. */
function readStatement(bundle: Json): Statement {
  const { mediaType, verificationMaterial: material, dsseEnvelope: envelope } = bundle;
  if (
    typeof mediaType !== 'string' ||
    !/^application\/vnd\.dev\.sigstore\.bundle(\.v0\.3\+json|\+json;version=0\.[123])$/.test(mediaType)
  ) {
    throw new StrictJsonError('must be a Sigstore bundle of version 0.1, 0.2 or 0.3, or a CycloneDX document');
  }
  if (!isObject(material) || !isObject(envelope)) {
    throw new StrictJsonError('must have "verificationMaterial" and "dsseEnvelope"');
  }
  // Verifiers might verify its signature instead, which is not about the statement.
  if (bundle['messageSignature'] !== undefined) throw new StrictJsonError('must have no "messageSignature"');
  requireBoundedMaterial(material);
  const { payloadType, payload, signatures } = envelope;
  if (payloadType !== inTotoPayloadType) throw new StrictJsonError(`must have the payload type ${inTotoPayloadType}`);
  if (!Array.isArray(signatures) || signatures.length !== 1 || !isObject(signatures[0])) {
    throw new StrictJsonError('must have exactly one signature');
  }
  base64Bytes(signatures[0]['sig'], 'signature');
  const { value: statement } = unwrapFaults(() => parseStrictJson(base64Bytes(payload, 'payload'), bounds));
  if (!isObject(statement) || !statementTypes.includes(statement['_type'] as string)) {
    throw new StrictJsonError('must contain an in-toto statement of version 1 or 0.1');
  }
  const { subject } = statement;
  const isValid =
    Array.isArray(subject) && subject.length > 0 && subject.every((one) => isObject(one) && isObject(one['digest']));
  if (!isValid) throw new StrictJsonError('must contain a statement whose subjects have digests');
  return statement as Statement;
}

function unwrapFaults<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof StrictJsonError ? new StrictJsonError(`has a payload that ${error.message}`) : error;
  }
}

function base64Bytes(text: unknown, what: string): Buffer {
  const isBase64 = typeof text === 'string' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  if (!isBase64) throw new StrictJsonError(`must have a ${what} in base64`);
  return Buffer.from(text, 'base64');
}

function requireBoundedMaterial(material: Json): void {
  const { tlogEntries = [], timestampVerificationData, x509CertificateChain, certificate } = material;
  const timestamps = isObject(timestampVerificationData) ? (timestampVerificationData['rfc3161Timestamps'] ?? []) : [];
  const certificates = isObject(x509CertificateChain)
    ? (x509CertificateChain['certificates'] ?? [])
    : [certificate ?? {}];
  requireAtMost(tlogEntries, maxLogEntries, 'log entries');
  requireAtMost(timestamps, maxTimestamps, 'timestamps');
  requireAtMost(certificates, maxCertificates, 'certificates');
  for (const entry of tlogEntries as unknown[]) {
    const proof = isObject(entry) ? entry['inclusionProof'] : undefined;
    requireAtMost(isObject(proof) ? (proof['hashes'] ?? []) : [], maxHashes, 'hashes');
  }
  for (const part of [...(timestamps as unknown[]), ...(certificates as unknown[])]) {
    if (JSON.stringify(part).length > maxPartLength)
      throw new StrictJsonError('has a certificate or timestamp that is too long');
  }
}

function requireAtMost(list: unknown, max: number, what: string): void {
  if (!Array.isArray(list) || list.length > max)
    throw new StrictJsonError(`must have a list of at most ${max} ${what}`);
}
