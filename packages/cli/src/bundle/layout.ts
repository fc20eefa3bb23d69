import { hash } from 'node:crypto';
import { testResultType } from '@tenon/protocol';
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

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

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

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
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
  const add = (blob: Blob) => {
    const present = blobs.get(blob.digest);
    if (present === undefined) blobs.set(blob.digest, blob);
  };
  const compute = (mediaType: string, bytes: Buffer): Descriptor => {
    const digest = sha256(bytes);
    add({ digest, size: bytes.length, source: { kind: 'computed', bytes } });
    return descriptor(mediaType, digest, bytes.length);
  };
  const document = (mediaType: string, { digest, size }: { readonly digest: string; readonly size: number }) => {
    add({ digest, size, source: { kind: 'document' } });
    return descriptor(mediaType, digest, size);
  };
  const json = (mediaType: string, value: unknown) => compute(mediaType, Buffer.from(JSON.stringify(value)));
  const empty = json('application/vnd.oci.empty.v1+json', {});
  const manifest = (fields: object) => json(manifestType, { schemaVersion: 2, mediaType: manifestType, ...fields });
  const referrer = (artifactType: string, layer: Descriptor, subject: Descriptor) => ({
    ...manifest({ artifactType, config: empty, layers: [layer], subject }),
    artifactType,
  });

  const catalogLayer = compute(catalogType, catalogBytes);
  const entries: object[] = [
    { ...manifest({ artifactType: catalogType, config: empty, layers: [catalogLayer] }), artifactType: catalogType },
  ];
  /** By digest: versions with the same bytes have the same manifest, and their attestations may be equal. */
  const referrers = new Map<string, object>();
  for (const placed of pluginsOf(catalog)) {
    for (const version of placed.plugin.versions) {
      const subject = manifest(manifestOf(version, json));
      add({ digest: hexOf(version.contentAddress), size: version.size, source: moduleSource(version) });
      const name = referenceOf(placed, version.number);
      entries.push({ ...subject, annotations: { 'org.opencontainers.image.ref.name': name } });
      const attached = version.attestations.map((one) => referrer(bundleType, document(bundleType, one), subject));
      const { testResult } = version;
      if (testResult !== null) {
        attached.push(referrer(testResultType, document(testResultType, testResult), subject));
      }
      for (const one of attached) referrers.set(one.digest, one);
    }
  }
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [...entries, ...referrers.values()],
    annotations: { [catalogAnnotation]: catalogLayer.digest },
  };
  const sorted = [...blobs.values()].sort((one, other) => (one.digest < other.digest ? -1 : 1));
  return { index: Buffer.from(JSON.stringify(index)), blobs: sorted };
}

function descriptor(mediaType: string, digest: string, size: number): Descriptor {
  return { mediaType, digest: `sha256:${digest}`, size };
}

function moduleSource({ contentAddress }: CatalogVersion): BlobSource {
  return { kind: 'module', contentAddress };
}

/**
 * A module as an OCI artifact (https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/). It depends on the bytes alone, so that
 * the export of an import has equal manifests.
 */
function manifestOf({ contentAddress, size }: CatalogVersion, json: (mediaType: string, value: unknown) => Descriptor) {
  const layer = descriptor('application/wasm', hexOf(contentAddress), size);
  const config = { architecture: 'wasm', os: 'wasip1', layerDigests: [layer.digest] };
  return { config: json('application/vnd.wasm.config.v0+json', config), layers: [layer] };
}
