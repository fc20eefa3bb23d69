import { hash } from 'node:crypto';
import {
  type OciDescriptor,
  type OciDocument,
  ociEmptyConfig,
  ociMediaTypes,
  ociPushedManifest,
} from '@tenon/protocol';
import { faultsOf } from '@tenon/protocol/validate';
import type { Static } from 'typebox';
import { parseStrictJson, StrictJsonError } from '../attestations/strict-json.ts';
import { invalidManifest } from './oci-error.ts';

/** The maximum size of a manifest, and of a configuration, in bytes. */
export const maxDocumentBytes = 64 * 1024;

const jsonBounds = { maxDepth: 16, maxValues: 4000 };

/** A pushed manifest of a module, whose blobs have not been looked up. */
export interface PushedManifest {
  readonly document: OciDocument;
  readonly config: OciDescriptor;
  readonly layer: OciDescriptor;
}

/**
 * Reads a pushed manifest: of an image with one layer, the module, and a configuration of a module, or none.
 *
 * @throws DomainError `invalid_request`
 */
export function readPushedManifest(bytes: Uint8Array): PushedManifest {
  const { text, value } = parse(bytes, 'The manifest');
  const [fault] = faultsOf(ociPushedManifest, value);
  if (fault !== undefined) throw invalidManifest(`The manifest is not valid: ${fault.pointer} ${fault.detail}.`);
  const { mediaType, config, layers, ...others } = value as Static<typeof ociPushedManifest>;
  if (mediaType !== undefined && mediaType !== ociMediaTypes.manifest) {
    throw invalidManifest(`The media type of the manifest must be ${ociMediaTypes.manifest} (got ${mediaType}).`);
  }
  if ('subject' in others) {
    throw invalidManifest('Referrers cannot be pushed. Attach attestations to the version with the API.');
  }
  const [layer] = layers;
  if (layer === undefined || layers.length > 1) {
    throw invalidManifest(`The manifest must have one layer, the module (got ${layers.length}).`);
  }
  if (layer.mediaType !== ociMediaTypes.layer) {
    throw invalidManifest(`The layer must have the media type ${ociMediaTypes.layer} (got ${layer.mediaType}).`);
  }
  const configTypes: readonly string[] = [ociMediaTypes.config, ociMediaTypes.empty];
  if (!configTypes.includes(config.mediaType)) {
    throw invalidManifest(
      `The configuration must have the media type ${configTypes.join(' or ')} (got ${config.mediaType}).`,
    );
  }
  if (config.size > maxDocumentBytes) {
    throw invalidManifest(`The configuration must have at most ${maxDocumentBytes.toLocaleString('en')} bytes.`);
  }
  if (config.mediaType === ociMediaTypes.empty && config.digest !== ociEmptyConfig.digest) {
    throw invalidManifest(`A configuration of the type ${ociMediaTypes.empty} must be "{}".`);
  }
  const digest = `sha256:${hash('sha256', bytes, 'hex')}` as const;
  const document = { mediaType: ociMediaTypes.manifest, digest, size: bytes.length, text };
  return { document, config: toDescriptor(config), layer: toDescriptor(layer) };
}

/**
 * Reads the configuration of a pushed manifest.
 *
 * @returns its text
 * @throws DomainError `invalid_request`
 */
export function readPushedConfig(bytes: Uint8Array, { layer }: PushedManifest): string {
  const { text, value } = parse(bytes, 'The configuration');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidManifest('The configuration must be a JSON object.');
  }
  const { layerDigests = [layer.digest] } = value as { readonly layerDigests?: unknown };
  if (JSON.stringify(layerDigests) === JSON.stringify([layer.digest])) return text;
  throw invalidManifest('The "layerDigests" of the configuration must be the digest of the layer.');
}

/** Every reader must understand the document in the same way, because the server serves it to others. */
function parse(bytes: Uint8Array, what: string): { readonly text: string; readonly value: unknown } {
  try {
    return parseStrictJson(bytes, jsonBounds);
  } catch (error) {
    if (error instanceof StrictJsonError) throw invalidManifest(`${what} ${error.message}.`);
    throw error;
  }
}

function toDescriptor({ mediaType, digest, size }: Static<typeof ociPushedManifest>['config']): OciDescriptor {
  return { mediaType, digest: digest as OciDescriptor['digest'], size };
}
