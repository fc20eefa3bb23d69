import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ContentAddress, contentAddressOfDigest, ociImageOf } from '@tenon/protocol';
import { digestOf, imageOf } from '../../test/helpers/oci-images.ts';
import { freshModule } from '../../test/helpers/world.ts';
import { sha256Hex } from './oci-version-names.ts';
import { readPushedImage } from './pushed-image.ts';

const bytes = freshModule();
const module = { contentAddress: contentAddressOfDigest(digestOf(bytes)) as ContentAddress, size: bytes.length };
const image = imageOf(bytes);

describe('readPushedImage()', () => {
  const read = (manifest: string, config = image.config) =>
    readPushedImage(module, Buffer.from(manifest), () => Promise.resolve(Buffer.from(config)));

  it('returns the documents with their digests', async () => {
    const found = await read(image.manifest);
    assert.deepEqual([found?.manifest, found?.config], [image.manifest, image.config]);
    assert.deepEqual([found?.manifestDigest, found?.configDigest], [digestOf(image.manifest), digestOf(image.config)]);
  });

  it('returns nothing for the computed image', async () => {
    const { manifest, config } = ociImageOf(module, sha256Hex);
    assert.equal(await read(manifest.text, config.text), undefined);
  });

  it('refuses an image of another module, and another configuration', async () => {
    for (const [manifest, config, message] of [
      [imageOf().manifest, image.config, /must be the module/],
      [
        image.manifest.replace(`"size": ${bytes.length}`, `"size": ${bytes.length + 1}`),
        image.config,
        /must be the mod/,
      ],
      [image.manifest, `${image.config} `, /another digest/],
      [image.manifest, image.config.replace('2026', '2027'), /another digest/],
      ['{}', image.config, /The manifest is not valid/],
    ] as const) {
      await assert.rejects(read(manifest, config), { name: 'InvalidImageError', message });
    }
  });
});
