import {
  type AttestationId,
  type OciDescriptor,
  type OciDocument,
  ociDocument,
  ociMediaTypes,
  ociReferrerManifest,
} from '@tenon/protocol';
import type { CacheSpec } from '../cache/cache.ts';
import type { VersionRecord } from '../db/records.ts';
import type { Deps } from '../deps.ts';
import { sha256Hex } from '../plugins/oci-version-names.ts';
import { newestTestResult } from '../simulations/test-result.ts';
import { imageOf } from './oci-image.ts';

/** A document about a version, as an OCI artifact whose subject is the version's image. */
export interface Referrer {
  readonly artifactType: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly manifest: OciDocument;
  readonly document: OciDescriptor;
  /** Returns the document's bytes. `undefined` if it has been deleted. */
  readText(): Promise<string | undefined>;
}

/** The digest and size of an attestation's bundle, which never changes. Cached by the attestation's id. */
const bundleDescriptors: CacheSpec<OciDescriptor> = { name: 'bundle digests', tags: () => [] };

/** Returns the attestations of a version, the oldest first, then the result of its newest test. */
export async function referrersOf(deps: Deps, version: VersionRecord, baseUrl: string): Promise<readonly Referrer[]> {
  const { read } = deps.store;
  const image = await imageOf(read, version);
  const toReferrer = (artifactType: string, annotations: Referrer['annotations'], document: OciDescriptor) => ({
    artifactType,
    annotations,
    document,
    manifest: ociReferrerManifest(image, { artifactType, document, annotations }, sha256Hex),
  });
  const referrers: Referrer[] = [];
  for (const { id, predicateType, createdAtMs } of await read.attestations(version.id)) {
    const document = await describeBundle(deps, id);
    if (document === undefined) continue;
    // https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md
    const annotations = {
      'dev.sigstore.bundle.content': 'dsse-envelope',
      'dev.sigstore.bundle.predicateType': predicateType,
      'org.opencontainers.image.created': new Date(createdAtMs).toISOString(),
    };
    const referrer = toReferrer(ociMediaTypes.sigstoreBundle, annotations, document);
    referrers.push({ ...referrer, readText: () => read.attestationBundle(id) });
  }
  const result = version.verdict === null ? undefined : await newestTestResult(read, version, baseUrl);
  if (result !== undefined) {
    const document = ociDocument(ociMediaTypes.testResult, result, sha256Hex);
    const annotations = { 'in-toto.io/predicate-type': result.predicateType };
    const referrer = toReferrer(ociMediaTypes.testResult, annotations, document);
    referrers.push({ ...referrer, readText: () => Promise.resolve(document.text) });
  }
  return referrers;
}

function describeBundle(deps: Deps, id: AttestationId): Promise<OciDescriptor | undefined> {
  return deps.cache.of(bundleDescriptors).getOrLoad(id, async () => {
    const bundle = await deps.store.read.attestationBundle(id);
    if (bundle === undefined) return undefined;
    const size = Buffer.byteLength(bundle);
    return { mediaType: ociMediaTypes.sigstoreBundle, digest: `sha256:${sha256Hex(bundle)}` as const, size };
  });
}
