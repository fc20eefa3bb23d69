import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  contentAddressOfDigest,
  isOciDigest,
  ociDigestOf,
  ociEmptyConfig,
  ociEmptyText,
  ociImageOf,
  ociMediaTypes,
  ociReferrerManifest,
} from './oci.ts';

const sha256Hex = (text: string) => hash('sha256', text, 'hex');
const contentAddress = hash('sha256', 'module', 'base64url') as never;
const image = ociImageOf({ contentAddress, size: 6 }, sha256Hex);

describe('ociImageOf()', () => {
  it('returns the same bytes for ever', () => {
    assert.equal(
      image.config.text,
      '{"architecture":"wasm","created":"1970-01-01T00:00:00Z","layerDigests":["sha256:' +
        `${sha256Hex('module')}"],"os":"wasip1"}`,
    );
    assert.equal(
      image.manifest.text,
      `{"config":{"digest":"${image.config.digest}","mediaType":"application/vnd.wasm.config.v0+json","size":${image.config.size}},` +
        `"layers":[{"digest":"${image.layer.digest}","mediaType":"application/wasm","size":6}],` +
        '"mediaType":"application/vnd.oci.image.manifest.v1+json","schemaVersion":2}',
    );
    assert.equal(image.manifest.digest, 'sha256:cca3bc0e072dacafea3674bcc4ed08feee0b156f850e8767f8128f86bd2b4970');
  });

  it('describes the bytes of its documents', () => {
    for (const { text, digest, size } of [image.config, image.manifest]) {
      assert.equal(digest, `sha256:${sha256Hex(text)}`);
      assert.equal(size, Buffer.byteLength(text));
    }
  });
});

describe('ociReferrerManifest()', () => {
  it('names the image as its subject, and escapes what is not ASCII', () => {
    const document = { mediaType: ociMediaTypes.testResult, digest: ociDigestOf(contentAddress), size: 6 };
    const annotations = { b: 'ü', a: '1' };
    const found = ociReferrerManifest(image, { artifactType: 'text/x', document, annotations }, sha256Hex);
    const { digest, size, mediaType } = image.manifest;
    assert.ok(found.text.startsWith('{"annotations":{"a":"1","b":"\\u00fc"},"artifactType":"text/x","config":'));
    assert.deepEqual(JSON.parse(found.text).subject, { mediaType, digest, size });
    assert.deepEqual(JSON.parse(found.text).annotations, annotations);
    assert.equal(found.size, Buffer.byteLength(found.text));
  });
});

describe('ociEmptyConfig', () => {
  it('describes an empty object', () => {
    assert.equal(ociEmptyConfig.digest, `sha256:${sha256Hex(ociEmptyText)}`);
    assert.equal(ociEmptyConfig.size, 2);
  });
});

describe('contentAddressOfDigest()', () => {
  it('is the inverse of ociDigestOf()', () => {
    for (let at = 0; at < 200; at++) {
      const address = hash('sha256', String(at), 'base64url') as never;
      const digest = ociDigestOf(address);
      assert.equal(digest, `sha256:${sha256Hex(String(at))}`);
      assert.equal(contentAddressOfDigest(digest), address);
    }
  });

  it('returns undefined for a text that is no SHA-256 digest', () => {
    const hex = sha256Hex('');
    for (const text of ['', hex, `sha512:${hex}`, `sha256:${hex.toUpperCase()}`, `sha256:${hex}0`, `sha256:${hex}\n`]) {
      assert.equal(contentAddressOfDigest(text), undefined, text);
      assert.ok(!isOciDigest(text));
    }
  });
});
