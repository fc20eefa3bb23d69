import { hash } from 'node:crypto';
import { type ContentAddress, ociImageOf } from '@tenon/protocol';
import type { PushedImage } from '../db/oci-records.ts';
import { sha256Hex } from '../plugins/oci-version-names.ts';
import { InvalidImageError, readPushedImage } from '../plugins/pushed-image.ts';
import { type Source, SourceError, type SourceVersion } from './source.ts';

/**
 * Reads the image with which a version was pushed to the source, so that it has the same digest at the mirror.
 *
 * @returns `undefined` for a version whose image is computed
 * @throws SourceError
 */
export async function readSourceImage(
  source: Source,
  version: SourceVersion,
  signal: AbortSignal,
): Promise<PushedImage | undefined> {
  const { size, oci } = version;
  const contentAddress = version.contentAddress as ContentAddress;
  if (oci.digest === ociImageOf({ contentAddress, size }, sha256Hex).manifest.digest) return undefined;
  const manifest = await source.ociDocument(version, `manifests/${oci.digest}`, signal);
  if (`sha256:${hash('sha256', manifest, 'hex')}` !== oci.digest) {
    throw new SourceError('invalid', `The manifest ${oci.digest} does not have its digest`);
  }
  try {
    return await readPushedImage({ contentAddress, size }, manifest, (digest) =>
      source.ociDocument(version, `blobs/${digest}`, signal),
    );
  } catch (error) {
    if (!(error instanceof InvalidImageError)) throw error;
    throw new SourceError('invalid', `The image ${oci.digest} is not valid: ${error.message}`);
  }
}
