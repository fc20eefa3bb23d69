import { canonicalJson } from './canonical-json.ts';
import type { ContentAddress } from './names.ts';

/*
 * The OCI image of a module: https://github.com/opencontainers/image-spec/blob/v1.1.1/manifest.md. Every document is canonical JSON that
 * follows from the module alone, so its digest never changes, and is the same on every server, in every mirror, and in every bundle.
 */

export const ociMediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  config: 'application/vnd.wasm.config.v0+json',
  layer: 'application/wasm',
  empty: 'application/vnd.oci.empty.v1+json',
  /** The artifact type of attestations. */
  sigstoreBundle: 'application/vnd.dev.sigstore.bundle.v0.3+json',
  /** The artifact type of test results. */
  testResult: 'application/vnd.in-toto+json',
} as const;

export type OciDigest = `sha256:${string}`;

export interface OciDescriptor {
  readonly mediaType: string;
  readonly digest: OciDigest;
  /** In bytes. */
  readonly size: number;
}

/** A computed document. Its size is the length of its text, which is ASCII. */
export interface OciDocument extends OciDescriptor {
  readonly text: string;
}

/** The module that an image follows from. */
export interface OciModule {
  readonly contentAddress: ContentAddress;
  /** In bytes. */
  readonly size: number;
}

export interface OciImage {
  readonly manifest: OciDocument;
  readonly config: OciDocument;
  /** The module. */
  readonly layer: OciDescriptor;
}

/** Returns the SHA-256 of a text in hexadecimal. */
export type Sha256Hex = (text: string) => string;

/** Clients of Wasm images require a time. That of a publish would differ on each server. */
const created = '1970-01-01T00:00:00Z';

/** Computes the image of a module. */
export function ociImageOf({ contentAddress, size }: OciModule, sha256Hex: Sha256Hex): OciImage {
  const layer: OciDescriptor = { mediaType: ociMediaTypes.layer, digest: ociDigestOf(contentAddress), size };
  const config = ociDocument(
    ociMediaTypes.config,
    { architecture: 'wasm', created, layerDigests: [layer.digest], os: 'wasip1' },
    sha256Hex,
  );
  const manifest = ociDocument(
    ociMediaTypes.manifest,
    { schemaVersion: 2, mediaType: ociMediaTypes.manifest, config: descriptorOf(config), layers: [layer] },
    sha256Hex,
  );
  return { manifest, config, layer };
}

/** A document about an image, such as an attestation. */
export interface OciReferrer {
  readonly artifactType: string;
  readonly document: OciDescriptor;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Computes the manifest of a referrer: an artifact with an empty configuration, whose subject is the image. */
export function ociReferrerManifest(
  { manifest }: { readonly manifest: OciDescriptor },
  { artifactType, document, annotations }: OciReferrer,
  sha256Hex: Sha256Hex,
): OciDocument {
  const value = {
    schemaVersion: 2,
    mediaType: ociMediaTypes.manifest,
    artifactType,
    config: ociEmptyConfig,
    layers: [descriptorOf(document)],
    subject: descriptorOf(manifest),
    annotations,
  };
  return ociDocument(ociMediaTypes.manifest, value, sha256Hex);
}

/** The bytes of {@link ociEmptyConfig}. */
export const ociEmptyText = '{}';

/** The descriptor of the empty configuration: https://github.com/opencontainers/image-spec/blob/v1.1.1/manifest.md#guidance-for-an-empty-descriptor */
export const ociEmptyConfig: OciDescriptor = {
  mediaType: ociMediaTypes.empty,
  digest: 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  size: ociEmptyText.length,
};

export function ociDocument(mediaType: string, value: unknown, sha256Hex: Sha256Hex): OciDocument {
  const text = canonicalJson(value);
  return { mediaType, digest: `sha256:${sha256Hex(text)}`, size: text.length, text };
}

/** Returns the digest by which OCI names a content. */
export function ociDigestOf(contentAddress: ContentAddress): OciDigest {
  const bytes = atob(contentAddress.replaceAll('-', '+').replaceAll('_', '/'));
  return `sha256:${Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the content address of a digest; `undefined` for a text that is no SHA-256 digest. */
export function contentAddressOfDigest(digest: string): ContentAddress | undefined {
  if (!isOciDigest(digest)) return undefined;
  const bytes = digest.slice('sha256:'.length).match(/../g) ?? [];
  const text = btoa(String.fromCharCode(...bytes.map((byte) => Number.parseInt(byte, 16))));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace('=', '') as ContentAddress;
}

export function isOciDigest(text: string): text is OciDigest {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}

function descriptorOf({ mediaType, digest, size }: OciDescriptor): OciDescriptor {
  return { mediaType, digest, size };
}
