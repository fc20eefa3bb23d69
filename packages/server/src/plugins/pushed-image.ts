import { hash } from 'node:crypto';
import {
  type OciDescriptor,
  type OciDigest,
  type OciDocument,
  ociEmptyConfig,
  ociEmptyText,
  ociImageOf,
  ociMediaTypes,
  ociPushedManifest,
} from '@tenon/protocol';
import { faultsOf } from '@tenon/protocol/validate';
import type { Static } from 'typebox';
import { parseStrictJson, StrictJsonError } from '../attestations/strict-json.ts';
import type { PushedImage } from '../db/oci-records.ts';
import type { VersionRecord } from '../db/records.ts';
import { sha256Hex } from './oci-version-names.ts';

/** The maximum size of a manifest, and of a configuration, in bytes. */
export const maxDocumentBytes = 64 * 1024;

const jsonBounds = { maxDepth: 16, maxValues: 4000 };

/** A manifest or a configuration that the server refuses, whatever the module is. The message says why. */
export class InvalidImageError extends Error {
  override readonly name = 'InvalidImageError';
}

/** A pushed manifest of a module, whose blobs have not been looked up. */
export interface PushedManifest {
  readonly document: OciDocument;
  readonly config: OciDescriptor;
  readonly layer: OciDescriptor;
}

/**
 * Reads a pushed manifest: of an image with one layer, the module, and a configuration of a module, or none.
 *
 * @throws InvalidImageError
 */
export function readPushedManifest(bytes: Uint8Array): PushedManifest {
  const { text, value } = parse(bytes, 'The manifest');
  const [fault] = faultsOf(ociPushedManifest, value);
  if (fault !== undefined) throw new InvalidImageError(`The manifest is not valid: ${fault.pointer} ${fault.detail}.`);
  const { mediaType, config, layers, ...others } = value as Static<typeof ociPushedManifest>;
  if (mediaType !== undefined && mediaType !== ociMediaTypes.manifest) {
    throw new InvalidImageError(`The media type of the manifest must be ${ociMediaTypes.manifest} (got ${mediaType}).`);
  }
  if ('subject' in others) {
    throw new InvalidImageError(
      'Referrers cannot be pushed, because the server computes them. Attach attestations with `tenon plugin attach`.',
    );
  }
  const [layer] = layers;
  if (layer === undefined || layers.length > 1) {
    throw new InvalidImageError(`The manifest must have one layer, the module (got ${layers.length}).`);
  }
  if (layer.mediaType !== ociMediaTypes.layer) {
    throw new InvalidImageError(`The layer must have the media type ${ociMediaTypes.layer} (got ${layer.mediaType}).`);
  }
  const configTypes: readonly string[] = [ociMediaTypes.config, ociMediaTypes.empty];
  if (!configTypes.includes(config.mediaType)) {
    throw new InvalidImageError(
      `The configuration must have the media type ${configTypes.join(' or ')} (got ${config.mediaType}).`,
    );
  }
  if (config.size > maxDocumentBytes) {
    throw new InvalidImageError(`The configuration must have at most ${maxDocumentBytes.toLocaleString('en')} bytes.`);
  }
  if (config.mediaType === ociMediaTypes.empty && config.digest !== ociEmptyConfig.digest) {
    throw new InvalidImageError(`A configuration of the type ${ociMediaTypes.empty} must be "{}".`);
  }
  const digest = `sha256:${hash('sha256', bytes, 'hex')}` as const;
  const document = { mediaType: ociMediaTypes.manifest, digest, size: bytes.length, text };
  return { document, config: toDescriptor(config), layer: toDescriptor(layer) };
}

/**
 * Reads the configuration of a pushed manifest.
 *
 * @returns its text
 * @throws InvalidImageError
 */
export function readPushedConfig(bytes: Uint8Array, { layer }: PushedManifest): string {
  const { text, value } = parse(bytes, 'The configuration');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidImageError('The configuration must be a JSON object.');
  }
  const { layerDigests = [layer.digest] } = value as { readonly layerDigests?: unknown };
  if (JSON.stringify(layerDigests) === JSON.stringify([layer.digest])) return text;
  throw new InvalidImageError('The "layerDigests" of the configuration must be the digest of the layer.');
}

/**
 * Reads a pushed image that comes with its version from another server.
 *
 * @param readConfig returns the bytes of the configuration
 * @returns `undefined` for the image that is computed from the module
 * @throws InvalidImageError also for an image of another module
 */
export async function readPushedImage(
  { contentAddress, size }: Pick<VersionRecord, 'contentAddress' | 'size'>,
  bytes: Uint8Array,
  readConfig: (digest: OciDigest) => Promise<Uint8Array>,
): Promise<PushedImage | undefined> {
  const manifest = readPushedManifest(bytes);
  const { document, config, layer } = manifest;
  const computed = ociImageOf({ contentAddress, size }, sha256Hex);
  if (document.digest === computed.manifest.digest) return undefined;
  if (layer.digest !== computed.layer.digest || layer.size !== size) {
    throw new InvalidImageError('The layer of the manifest must be the module.');
  }
  const isEmpty = config.digest === ociEmptyConfig.digest;
  const configBytes = isEmpty ? Buffer.from(ociEmptyText) : await readConfig(config.digest);
  if (configBytes.length !== config.size || `sha256:${hash('sha256', configBytes, 'hex')}` !== config.digest) {
    throw new InvalidImageError('The configuration has another digest, or another size.');
  }
  return toPushedImage(document, { ...config, text: readPushedConfig(configBytes, manifest) });
}

export function toPushedImage(manifest: OciDocument, config: OciDocument): PushedImage {
  const { digest: configDigest, mediaType: configType, text } = config;
  return { manifestDigest: manifest.digest, manifest: manifest.text, configDigest, configType, config: text };
}

/** Every reader must understand the document in the same way, because the server serves it to others. */
function parse(bytes: Uint8Array, what: string): { readonly text: string; readonly value: unknown } {
  try {
    return parseStrictJson(bytes, jsonBounds);
  } catch (error) {
    if (error instanceof StrictJsonError) throw new InvalidImageError(`${what} ${error.message}.`);
    throw error;
  }
}

function toDescriptor({ mediaType, digest, size }: Static<typeof ociPushedManifest>['config']): OciDescriptor {
  return { mediaType, digest: digest as OciDescriptor['digest'], size };
}
