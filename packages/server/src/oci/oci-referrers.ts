import {
  type AttestationId,
  type OciDescriptor,
  type OciDocument,
  type OciImage,
  ociDocument,
  ociMediaTypes,
  ociReferrerManifest,
} from '@tenon/protocol';
import type { CacheSpec } from '../cache/cache.ts';
import type { AttestationRecord } from '../db/attestation-records.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Deps } from '../deps.ts';
import { sha256Hex } from '../plugins/oci-version-names.ts';
import { newestTestResults } from '../simulations/test-result.ts';
import { imagesOf } from './oci-image.ts';

/** A document about a version, as an OCI artifact whose subject is the version's image. */
export interface Referrer {
  readonly version: VersionRecord;
  readonly artifactType: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly manifest: OciDocument;
  readonly document: OciDescriptor;
  /** Returns the document's bytes. `undefined` if it has been deleted. */
  readText(): Promise<string | undefined>;
}

/** A referrer, before its manifest is computed. */
type Attached = Omit<Referrer, 'version' | 'manifest'>;

/** The digest and size of an attestation's bundle, which never changes. Cached by the attestation's id. */
const bundleDescriptors: CacheSpec<OciDescriptor> = { name: 'bundle digests', tags: () => [] };

/** Returns for each version its attestations, the oldest first, then the result of its newest test. */
export async function referrersOf(deps: Deps, versions: readonly VersionRecord[]): Promise<readonly Referrer[]> {
  const { read } = deps.store;
  const images = await imagesOf(read, versions);
  const attestations = Map.groupBy(
    await read.attestationsOfVersions(versions.map(({ id }) => id)),
    ({ versionId }) => versionId,
  );
  const results = await newestTestResults(
    read,
    versions.filter(({ verdict }) => verdict !== null),
    deps.baseUrl(),
  );
  const referrers: Referrer[] = [];
  for (const [index, version] of versions.entries()) {
    const attached: Attached[] = [];
    for (const attestation of attestations.get(version.id) ?? []) {
      const document = await describeBundle(deps, attestation.id);
      if (document !== undefined) attached.push(ofAttestation(deps, attestation, document));
    }
    const result = results.get(version.id);
    if (result !== undefined) {
      const document = ociDocument(ociMediaTypes.testResult, result, sha256Hex);
      const annotations = { 'in-toto.io/predicate-type': result.predicateType };
      const readText = () => Promise.resolve(document.text);
      attached.push({ artifactType: ociMediaTypes.testResult, annotations, document, readText });
    }
    const image = images[index] as OciImage;
    referrers.push(
      ...attached.map((one) => ({ ...one, version, manifest: ociReferrerManifest(image, one, sha256Hex) })),
    );
  }
  return referrers;
}

function ofAttestation(
  { store }: Deps,
  { id, predicateType, createdAtMs }: AttestationRecord,
  document: OciDescriptor,
): Attached {
  // https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md
  const annotations = {
    'dev.sigstore.bundle.content': 'dsse-envelope',
    'dev.sigstore.bundle.predicateType': predicateType,
    'org.opencontainers.image.created': new Date(createdAtMs).toISOString(),
  };
  const readText = () => store.read.attestationBundle(id);
  return { artifactType: ociMediaTypes.sigstoreBundle, annotations, document, readText };
}

function describeBundle(deps: Deps, id: AttestationId): Promise<OciDescriptor | undefined> {
  return deps.cache.of(bundleDescriptors).getOrLoad(id, async () => {
    const bundle = await deps.store.read.attestationBundle(id);
    if (bundle === undefined) return undefined;
    const size = Buffer.byteLength(bundle);
    return { mediaType: ociMediaTypes.sigstoreBundle, digest: `sha256:${sha256Hex(bundle)}` as const, size };
  });
}
