import type { toTrustMaterial } from '@sigstore/verify';

/** A trusted root as `@sigstore/verify` takes it. */
type TrustedRoot = Parameters<typeof toTrustMaterial>[0];

type Json = Readonly<Record<string, unknown>>;

/** RSA keys in PKCS #1, by name and number: https://github.com/sigstore/protobuf-specs/blob/main/protos/sigstore_common.proto */
const rsaKeyDetails: Readonly<Record<string, number>> = {
  PKCS1_RSA_PKCS1V5: 1,
  PKIX_RSA_PKCS1V5: 3,
  PKIX_RSA_PKCS1V15_2048_SHA256: 9,
  PKIX_RSA_PKCS1V15_3072_SHA256: 10,
  PKIX_RSA_PKCS1V15_4096_SHA256: 11,
};

/** `PKIX_ECDSA_P256_SHA_256`. The other key types are all read from SPKI. */
const spkiKeyDetails = 5;

/**
 * Converts a trusted root from JSON: base64 to bytes, and texts to times.
 *
 * @throws TypeError for JSON of another shape
 */
export function toTrustedRoot(json: unknown): TrustedRoot {
  const { tlogs, ctlogs, certificateAuthorities, timestampAuthorities } = json as Json;
  const root = {
    tlogs: listOf(tlogs).map(toLog),
    ctlogs: listOf(ctlogs).map(toLog),
    certificateAuthorities: listOf(certificateAuthorities).map(toAuthority),
    timestampAuthorities: listOf(timestampAuthorities).map(toAuthority),
  };
  return root as unknown as TrustedRoot;
}

function listOf(list: unknown): Json[] {
  return (list ?? []) as Json[];
}

function toLog({ baseUrl, publicKey, logId, checkpointKeyId }: Json) {
  const { rawBytes, keyDetails, validFor } = publicKey as Json;
  return {
    baseUrl,
    publicKey: {
      rawBytes: toBytes(rawBytes),
      keyDetails: rsaKeyDetails[String(keyDetails)] ?? spkiKeyDetails,
      validFor: toRange(validFor),
    },
    logId: toLogId(logId),
    ...(checkpointKeyId !== undefined && { checkpointKeyId: toLogId(checkpointKeyId) }),
  };
}

function toLogId(id: unknown) {
  return { keyId: toBytes((id as Json)['keyId']) };
}

function toAuthority({ certChain, validFor }: Json) {
  const certificates = listOf((certChain as Json)['certificates']);
  return {
    certChain: { certificates: certificates.map(({ rawBytes }) => ({ rawBytes: toBytes(rawBytes) })) },
    validFor: toRange(validFor),
  };
}

function toBytes(text: unknown): Buffer {
  if (typeof text !== 'string') throw new TypeError('a trusted root has no bytes where it needs some');
  return Buffer.from(text, 'base64');
}

/** A range of times, both inclusive. Without a start, nothing is valid: a root must say since when it trusts. */
function toRange(range: unknown): { start: Date; end?: Date } {
  const { start, end } = (range ?? {}) as Json;
  if (typeof start !== 'string') throw new TypeError('a trusted root has an entry without a start of its validity');
  return { start: new Date(start), ...(typeof end === 'string' && { end: new Date(end) }) };
}
