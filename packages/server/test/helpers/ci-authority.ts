import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { initializeCA, initializeCTLog, initializeTLog, initializeTSA } from '@sigstore/mock';

/** The claims of the jobs that {@link CiAuthority} signs for. */
export const jobClaims = {
  issuer: 'https://token.actions.githubusercontent.com',
  repository: 'https://github.com/acme/median',
  workflow: 'https://github.com/acme/median/.github/workflows/publish.yml@refs/tags/v1',
  commit: '0123456789abcdef0123456789abcdef01234567',
  runUrl: 'https://github.com/acme/median/actions/runs/7/attempts/1',
} as const;

const extensions: Readonly<Record<keyof typeof jobClaims, number>> = {
  issuer: 8,
  repository: 12,
  workflow: 18,
  commit: 13,
  runUrl: 21,
};

export const slsaType = 'https://slsa.dev/provenance/v1';

export interface StatementFields {
  readonly _type?: unknown;
  readonly subject?: unknown;
  readonly predicateType?: unknown;
  readonly predicate?: unknown;
}

interface SignOptions {
  readonly claims?: Partial<typeof jobClaims> | Readonly<Record<string, string>>;
  readonly payloadType?: string;
  /** Signs these bytes instead of the statement. */
  readonly payload?: Buffer;
  /** Adds a timestamp of RFC 3161. */
  readonly isTimestamped?: boolean;
}

interface AuthorityOptions {
  /** When certificates begin, which are valid for ten minutes. */
  readonly clock?: Date;
  /** The clock of the log. Default: `clock`. */
  readonly loggedAt?: Date;
  /** The clock of the timestamp authority. Default: `clock`. */
  readonly timestampedAt?: Date;
}

// biome-ignore lint/suspicious/noExplicitAny: tests change any part of a bundle
export type Bundle = any;

export interface CiAuthority {
  readonly trustedRoot: object;
  /** Returns a bundle as `actions/attest-build-provenance` makes it: a certificate, an entry of a log with its time, and an envelope. */
  sign(statement: StatementFields, options?: SignOptions): Promise<Bundle>;
}

const base64 = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

/** A statement that a content was built. */
export function provenanceOf(content: Uint8Array, fields: StatementFields = {}): StatementFields {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'plugin.wasm', digest: { sha256: createHash('sha256').update(content).digest('hex') } }],
    predicateType: slsaType,
    predicate: { buildDefinition: { buildType: 'https://actions.github.io/buildtypes/workflow/v1' }, runDetails: {} },
    ...fields,
  };
}

/**
 * A certificate authority and transparency logs in this process, as Sigstore runs them. Their clock is a minute ahead, because the root certificate
 * begins when its key has been made, and a log entry must not be older.
 */
export async function openCiAuthority({
  clock = new Date(Date.now() + 60_000),
  loggedAt = clock,
  timestampedAt = clock,
}: AuthorityOptions = {}): Promise<CiAuthority> {
  const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
  const ctLog = await initializeCTLog(ec('P-256'), clock);
  const ca = await initializeCA(ec('P-384'), ctLog, clock);
  const log = await initializeTLog('https://rekor.example.com', ec('P-256'), loggedAt);
  const tsa = await initializeTSA(ec('P-384'), timestampedAt);
  const validFor = { start: new Date(clock.getTime() - 3_600_000).toISOString() };
  const keyOf = (publicKey: Uint8Array) => ({
    rawBytes: Buffer.from(publicKey).toString('base64'),
    keyDetails: 'PKIX_ECDSA_P256_SHA_256',
    validFor,
  });
  const logOf = (baseUrl: string, publicKey: Uint8Array) => ({
    baseUrl,
    hashAlgorithm: 'SHA2_256',
    publicKey: keyOf(publicKey),
    logId: { keyId: createHash('sha256').update(publicKey).digest('base64') },
  });
  const timestampOf = async (signature: Buffer) => {
    const artifactHash = createHash('sha256').update(signature).digest();
    const [hashAlgorithmOID, policyOID] = ['2.16.840.1.101.3.4.2.1', '1.3.6.1.4.1.57264.2'];
    const response = await tsa.timestamp({ artifactHash, hashAlgorithmOID, policyOID, nonce: 1234, certReq: false });
    return { signedTimestamp: base64(response) };
  };
  return {
    trustedRoot: {
      mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
      tlogs: [logOf('https://rekor.example.com', log.publicKey)],
      certificateAuthorities: [
        {
          subject: { organization: 'sigstore.mock', commonName: 'sigstore' },
          uri: 'https://fulcio.example.com',
          certChain: { certificates: [{ rawBytes: base64(ca.rootCertificate) }] },
          validFor,
        },
      ],
      ctlogs: [logOf('https://ctfe.example.com', ctLog.publicKey)],
      timestampAuthorities: [
        {
          subject: { organization: 'sigstore.mock', commonName: 'tsa signing' },
          uri: 'https://tsa.example.com',
          certChain: {
            certificates: [{ rawBytes: base64(tsa.intCertificate) }, { rawBytes: base64(tsa.rootCertificate) }],
          },
          validFor,
        },
      ],
    },
    async sign(statement, options = {}) {
      const { claims = jobClaims, payloadType = 'application/vnd.in-toto+json', payload, isTimestamped } = options;
      const { publicKey, privateKey } = ec('P-256');
      const certificate = await ca.issueCertificate({
        publicKey: publicKey.export({ type: 'spki', format: 'der' }),
        subjectAltName: claims.workflow ?? 'https://example.com/nobody',
        extensions: Object.entries(claims).map(([name, value]) => ({
          oid: `1.3.6.1.4.1.57264.1.${extensions[name as keyof typeof jobClaims]}`,
          value,
        })),
      });
      const bytes = payload ?? Buffer.from(JSON.stringify(statement));
      const encoded = Buffer.concat([
        Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `),
        bytes,
      ]);
      const signature = sign('sha256', encoded, privateKey).toString('base64');
      const hashOf = (data: Uint8Array) => ({
        algorithm: 'sha256',
        value: createHash('sha256').update(data).digest('hex'),
      });
      const pem = `-----BEGIN CERTIFICATE-----\n${base64(certificate)}\n-----END CERTIFICATE-----\n`;
      const envelope = { payload: bytes.toString('base64'), payloadType, signatures: [{ sig: signature }] };
      const logged = await log.log({
        apiVersion: '0.0.1',
        kind: 'dsse',
        spec: {
          envelopeHash: hashOf(Buffer.from(JSON.stringify(envelope))),
          payloadHash: hashOf(bytes),
          signatures: [{ signature, verifier: Buffer.from(pem).toString('base64') }],
        },
      });
      const [entry] = Object.values(logged) as Bundle[];
      const { inclusionProof: proof, signedEntryTimestamp } = entry.verification;
      const timestamps = isTimestamped === true ? [await timestampOf(Buffer.from(signature, 'base64'))] : [];
      return {
        mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
        verificationMaterial: {
          certificate: { rawBytes: base64(certificate) },
          tlogEntries: [
            {
              logIndex: String(entry.logIndex),
              logId: { keyId: Buffer.from(entry.logID, 'hex').toString('base64') },
              kindVersion: { kind: 'dsse', version: '0.0.1' },
              integratedTime: String(entry.integratedTime),
              inclusionPromise: { signedEntryTimestamp },
              inclusionProof: {
                logIndex: String(proof.logIndex),
                rootHash: Buffer.from(proof.rootHash, 'hex').toString('base64'),
                treeSize: String(proof.treeSize),
                hashes: [],
                checkpoint: { envelope: proof.checkpoint },
              },
              canonicalizedBody: entry.body,
            },
          ],
          timestampVerificationData: { rfc3161Timestamps: timestamps },
        },
        dsseEnvelope: envelope,
      };
    },
  };
}
