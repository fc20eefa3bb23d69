import { hash } from 'node:crypto';
import { type CiClaims, newId, pluginId } from '@tenon/protocol';
import type { AttestationWithBundle } from '../db/attestation-records.ts';
import type { TokenRecord, VersionRecord } from '../db/records.ts';
import type { Transaction } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { signerOfClaims } from './ci-claims.ts';
import { openOwnBundle, signStatement } from './dsse.ts';
import { currentSigningKey } from './signing-keys.ts';
import { hasSubject, noSigner, sha256Of, statementType } from './statement.ts';

export const publishPredicateType = 'urn:tenon:attestation:publish:v1';

/** How a version was published. */
export interface PublishMeans {
  readonly means: 'token' | 'session' | 'trusted_publishing';
  /** The verified claims of the CI job, from trusted publishing. */
  readonly claims: CiClaims | null;
}

/** Where an imported version comes from, as another server attests. */
export interface Origin {
  /** The key that signed it. The importer vouches for it. */
  readonly keyId: string;
  /** The server's public URL. */
  readonly server: string;
  /** `ext_…/plugin/usr_…/<name>` */
  readonly plugin: string;
  readonly version: number;
  readonly publishedAt: string;
}

/** How a token publishes. */
export function meansOf({ claims, sessionId }: Pick<TokenRecord, 'claims' | 'sessionId'>): PublishMeans {
  if (claims !== null) return { means: 'trusted_publishing', claims };
  return { means: sessionId === null ? 'token' : 'session', claims };
}

/** The subject of the attestations of a version. */
export function subjectOf(version: VersionRecord) {
  const { extensionPointId, userId, name, number, contentAddress } = version;
  const sha256 = sha256Of(contentAddress);
  return [{ name: `${pluginId(extensionPointId, userId, name)}@${number}`, digest: { sha256 } }];
}

/**
 * Signs and inserts the server's attestation of a new version, in the transaction that inserts the version.
 *
 * @param origin names where an imported version comes from
 */
export async function insertPublishAttestation(
  deps: Deps,
  tx: Transaction,
  appId: string,
  version: VersionRecord,
  { means, claims }: PublishMeans,
  origin: Origin | undefined,
): Promise<void> {
  const { extensionPointId, userId, name, number, id, semver, size, createdAtMs } = version;
  const key = await currentSigningKey(deps, tx, createdAtMs);
  const bundle = signStatement(key, {
    _type: statementType,
    subject: subjectOf(version),
    predicateType: publishPredicateType,
    predicate: {
      server: deps.baseUrl(),
      appId,
      extensionPointId,
      plugin: pluginId(extensionPointId, userId, name),
      publisher: userId,
      name,
      version: number,
      versionId: id,
      semver,
      size,
      publishedAt: new Date(createdAtMs).toISOString(),
      means,
      ...(claims !== null && { claims }),
      ...(origin !== undefined && { import: origin }),
    },
  });
  await tx.insertAttestation({
    id: newId('attestation'),
    versionId: id,
    kind: 'publish',
    predicateType: publishPredicateType,
    state: 'verified',
    detail: null,
    signer: { ...(claims === null ? noSigner : signerOfClaims(claims)), keyId: key.id },
    size: 0,
    digest: hash('sha256', bundle, 'hex'),
    userId: null,
    createdAtMs,
    bundle,
  });
}

/**
 * Verifies an attestation that this server signed.
 *
 * @returns why it fails; `null` if it is valid
 */
export function faultOfOwn(
  { bundle, kind, versionId }: Pick<AttestationWithBundle, 'bundle' | 'kind' | 'versionId'>,
  contentAddress: string,
  publicKeyOf: (id: string) => string | undefined,
): string | null {
  const opened = openOwnBundle(bundle, publicKeyOf);
  if ('fault' in opened) return opened.fault;
  const { subject, predicateType, predicate } = opened.statement;
  if (!hasSubject(opened.statement, contentAddress))
    return `no subject has the digest of the content: ${JSON.stringify(subject)}`;
  if (kind !== 'publish') return null;
  if (predicateType !== publishPredicateType) return `it has the predicate ${String(predicateType)}`;
  const attested = (predicate as { readonly versionId?: unknown }).versionId;
  return attested === versionId ? null : `it attests another version, ${String(attested)}`;
}
