import { hash } from 'node:crypto';
import {
  type ContentAddress,
  type OciDescriptor,
  ociDocument,
  ociEmptyConfig,
  ociEmptyText,
  ociImageOf,
  ociMediaTypes,
  ociReferrerManifest,
} from '@tenon/protocol';
import { type Catalog, type CatalogVersion, catalogType, type PlacedPlugin, pluginsOf } from './catalog.ts';

/*
 * The OCI image layout of a bundle (https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md). All of it is computed from
 * the catalog, so that an import can compute it again and compare the bytes.
 */

export const layoutFile = 'oci-layout';
export const indexFile = 'index.json';
export const layoutText = '{"imageLayoutVersion":"1.0.0"}';

/** Where the index names the blob with the catalog. */
export const catalogAnnotation = 'org.tenon.bundle.catalog';

/** Where a blob comes from: the layout itself, a module, or an attestation or test result. */
export type BlobSource =
  | { readonly kind: 'computed'; readonly bytes: Buffer }
  | { readonly kind: 'module'; readonly contentAddress: string }
  | { readonly kind: 'document' };

export interface Blob {
  /** The SHA-256 in hexadecimal. */
  readonly digest: string;
  readonly size: number;
  readonly source: BlobSource;
}

export interface Layout {
  readonly index: Buffer;
  /** By digest, in ascending order. */
  readonly blobs: readonly Blob[];
}

export function blobFile(digest: string): string {
  return `blobs/sha256/${digest}`;
}

export function hexOf(contentAddress: string): string {
  return Buffer.from(contentAddress, 'base64url').toString('hex');
}

export function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** The name of a version in the index. It has four parts where OCI does not allow the plugin's name. */
export function referenceOf({ extensionPoint, plugin }: PlacedPlugin, number: number): string {
  const { userId, name } = plugin;
  // https://github.com/opencontainers/image-spec/blob/v1.1.0/annotations.md: separators between letters or digits only
  const isAllowed = /^[A-Za-z0-9]+(?:(?:[._-]|--)[A-Za-z0-9]+)*$/.test(name);
  const component = isAllowed ? name : `hex/${Buffer.from(name).toString('hex')}`;
  return `${extensionPoint.id}/${userId}/${component}:${number}`;
}

export function createLayout(catalog: Catalog, catalogBytes: Buffer): Layout {
  const blobs = new Map<string, Blob>();
  const add = (digest: string, size: number, source: BlobSource): void => {
    if (!blobs.has(digest)) blobs.set(digest, { digest, size, source });
  };
  const compute = (mediaType: string, bytes: Buffer): OciDescriptor => {
    const digest = sha256(bytes);
    add(digest, bytes.length, { kind: 'computed', bytes });
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const json = (mediaType: string, value: unknown) =>
    compute(mediaType, Buffer.from(ociDocument(mediaType, value, sha256Hex).text));
  const referrer = (
    artifactType: string,
    { digest, size }: { readonly digest: string; readonly size: number },
    manifest: OciDescriptor,
  ) => {
    add(digest, size, { kind: 'document' });
    const document: OciDescriptor = { mediaType: artifactType, digest: `sha256:${digest}`, size };
    const { text } = ociReferrerManifest({ manifest }, { artifactType, document, annotations: {} }, sha256Hex);
    return { ...compute(ociMediaTypes.manifest, Buffer.from(text)), artifactType };
  };

  const addImage = ({ contentAddress, size, image }: CatalogVersion): OciDescriptor => {
    if (image === undefined) {
      const computed = ociImageOf({ contentAddress: contentAddress as ContentAddress, size }, sha256Hex);
      compute(ociMediaTypes.config, Buffer.from(computed.config.text));
      return compute(ociMediaTypes.manifest, Buffer.from(computed.manifest.text));
    }
    for (const { digest, size: bytes } of [image.manifest, image.config]) add(digest, bytes, { kind: 'document' });
    const { digest } = image.manifest;
    return { mediaType: ociMediaTypes.manifest, digest: `sha256:${digest}`, size: image.manifest.size };
  };

  compute(ociMediaTypes.empty, Buffer.from(ociEmptyText));
  const layer = compute(catalogType, catalogBytes);
  const attested = catalog.extensionPoints.map(({ attestation: { digest, size } }) => {
    add(digest, size, { kind: 'document' });
    return { mediaType: ociMediaTypes.sigstoreBundle, digest: `sha256:${digest}`, size };
  });
  const bundle = { artifactType: catalogType, config: ociEmptyConfig, layers: [layer, ...attested] };
  const entries: object[] = [{ ...json(ociMediaTypes.manifest, manifestOf(bundle)), artifactType: catalogType }];
  /** By digest: versions with the same bytes have the same manifest, and their attestations may be equal. */
  const referrers = new Map<string, object>();
  for (const placed of pluginsOf(catalog)) {
    for (const version of placed.plugin.versions) {
      const { contentAddress, size, attestations, testResult } = version;
      add(hexOf(contentAddress), size, { kind: 'module', contentAddress });
      const manifest = addImage(version);
      const name = referenceOf(placed, version.number);
      entries.push({ ...manifest, annotations: { 'org.opencontainers.image.ref.name': name } });
      const attached = attestations.map((one) => referrer(ociMediaTypes.sigstoreBundle, one, manifest));
      if (testResult !== null) attached.push(referrer(ociMediaTypes.testResult, testResult, manifest));
      for (const one of attached) referrers.set(one.digest, one);
    }
  }
  const index = {
    schemaVersion: 2,
    mediaType: ociMediaTypes.index,
    manifests: [...entries, ...referrers.values()],
    annotations: { [catalogAnnotation]: layer.digest },
  };
  const sorted = [...blobs.values()].sort((one, other) => (one.digest < other.digest ? -1 : 1));
  return { index: Buffer.from(JSON.stringify(index)), blobs: sorted };
}

const sha256Hex = (text: string) => sha256(Buffer.from(text));

function manifestOf(fields: object) {
  return { schemaVersion: 2, mediaType: ociMediaTypes.manifest, ...fields };
}
