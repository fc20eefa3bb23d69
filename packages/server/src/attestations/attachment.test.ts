import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DomainError } from '../http/domain-errors.ts';
import { readAttachment } from './attachment.ts';

const statement = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: 'a', digest: { sha256: 'ab' } }],
  predicateType: 'https://slsa.dev/provenance/v1',
  predicate: {},
};

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');

function bundleOf(payload: unknown = statement, envelope: object = {}, more: object = {}): object {
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { certificate: { rawBytes: 'AA==' }, tlogEntries: [] },
    dsseEnvelope: {
      payload: base64(payload),
      payloadType: 'application/vnd.in-toto+json',
      signatures: [{ sig: 'AA==' }],
      ...envelope,
    },
    ...more,
  };
}

const read = (value: unknown) =>
  readAttachment(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), '');
const material = (fields: object) => bundleOf(statement, {}, { verificationMaterial: fields });

describe('readAttachment()', () => {
  it('reads bundles of all versions, and returns their kind', () => {
    const mediaTypes = ['0.1', '0.2', '0.3'].map(
      (version) => `application/vnd.dev.sigstore.bundle+json;version=${version}`,
    );
    for (const mediaType of mediaTypes) assert.equal(read(bundleOf(statement, {}, { mediaType })).kind, 'provenance');
    const predicateType = 'https://cyclonedx.org/bom';
    assert.equal(read(bundleOf({ ...statement, predicateType })).kind, 'sbom');
    assert.equal(read(bundleOf({ ...statement, _type: 'https://in-toto.io/Statement/v0.1' })).kind, 'provenance');
  });

  it('reads a CycloneDX document', () => {
    const sbom = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [] };
    assert.deepEqual(read(sbom), { kind: 'sbom', predicateType: 'https://cyclonedx.org/bom' });
  });

  const refused: Readonly<Record<string, readonly [unknown, RegExp]>> = {
    'text that is no JSON': ['provenance', /syntax/],
    'a list': [[], /object/],
    'another object': [{}, /Sigstore bundle/],
    'another media type': [bundleOf(statement, {}, { mediaType: 'application/json' }), /Sigstore bundle/],
    'a future version': [
      bundleOf(statement, {}, { mediaType: 'application/vnd.dev.sigstore.bundle.v0.4+json' }),
      /Sigstore bundle/,
    ],
    'a bundle with a message signature': [
      bundleOf(statement, {}, { dsseEnvelope: undefined, messageSignature: {} }),
      /dsseEnvelope/,
    ],
    'a bundle with an envelope and a message signature': [
      bundleOf(statement, {}, { messageSignature: { signature: 'AA==' } }),
      /no "messageSignature"/,
    ],
    'a bundle without material': [material(undefined as never), /verificationMaterial/],
    'another payload type': [bundleOf(statement, { payloadType: 'text/plain' }), /payload type/],
    'no signature': [bundleOf(statement, { signatures: [] }), /one signature/],
    'two signatures': [bundleOf(statement, { signatures: [{ sig: 'AA==' }, { sig: 'AA==' }] }), /one signature/],
    'a signature that is not base64': [bundleOf(statement, { signatures: [{ sig: '*' }] }), /signature in base64/],
    'a payload in base64url': [bundleOf(statement, { payload: `${'_'.repeat(4)}` }), /payload in base64/],
    'a payload with padding missing': [
      bundleOf(statement, { payload: base64(statement).slice(0, -1) }),
      /payload in base64|syntax/,
    ],
    'a payload that is no JSON': [bundleOf('{'), /payload that has a JSON syntax error/],
    'a payload with a repeated property': [
      bundleOf('{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{}}],"subject":[{"digest":{}}]}'),
      /payload that repeats the property "subject"/,
    ],
    'an unknown statement type': [bundleOf({ ...statement, _type: 'https://in-toto.io/Statement/v2' }), /statement/],
    'a list as the statement type': [bundleOf({ ...statement, _type: [statement._type] }), /statement/],
    'a statement without type': [bundleOf({ ...statement, _type: undefined }), /statement/],
    'a statement without subject': [bundleOf({ ...statement, subject: [] }), /subjects/],
    'a subject without digest': [bundleOf({ ...statement, subject: [{ name: 'a' }] }), /subjects/],
    'another predicate': [bundleOf({ ...statement, predicateType: 'https://example.com/a' }), /predicate of SLSA/],
    "the server's own predicate": [
      bundleOf({ ...statement, predicateType: 'urn:tenon:attestation:publish:v1' }),
      /predicate of SLSA/,
    ],
    'many log entries': [material({ tlogEntries: Array(5).fill({}) }), /4 log entries/],
    'many hashes': [material({ tlogEntries: [{ inclusionProof: { hashes: Array(65).fill('AA==') } }] }), /64 hashes/],
    'log entries that are no list': [material({ tlogEntries: 1 }), /log entries/],
    'many timestamps': [
      material({ timestampVerificationData: { rfc3161Timestamps: Array(5).fill({}) } }),
      /4 timestamps/,
    ],
    'many certificates': [material({ x509CertificateChain: { certificates: Array(9).fill({}) } }), /8 certificates/],
    'a large certificate': [material({ certificate: { rawBytes: 'A'.repeat(17_000) } }), /too long/],
    'more than 1 MiB': [`{"a":"${'a'.repeat(1024 * 1024)}"}`, /1048576 bytes/],
    'deep nesting': [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, /64 levels/],
    'an SBOM without a version': [{ bomFormat: 'CycloneDX' }, /specVersion/],
  };
  for (const [what, [value, message]] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => read(value),
        (error) => {
          assert.ok(error instanceof DomainError);
          assert.equal(error.code, 'invalid_field');
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
