import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { keyIdOf, openOwnBundle, type SigningKey, signStatement } from './dsse.ts';

function makeKey(): SigningKey & { readonly pem: string; readonly der: Buffer } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKey = createPublicKey(privateKey);
  return {
    id: keyIdOf(publicKey),
    privateKey,
    pem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    der: publicKey.export({ type: 'spki', format: 'der' }),
  };
}

const statement = { _type: 'https://in-toto.io/Statement/v1', subject: [], note: 'ä 😀' };
const key = makeKey();
const text = signStatement(key, statement);
const keyOf = (id: string) => (id === key.id ? key.pem : undefined);

/** Verifies as `@sigstore/verify` does, without logs and times. */
function verifyWithSigstore(bundle: string): void {
  const empty = TrustedRoot.fromJSON({
    mediaType: '',
    tlogs: [],
    certificateAuthorities: [],
    ctlogs: [],
    timestampAuthorities: [],
  });
  const material = toTrustMaterial(empty, { [key.id]: { rawBytes: key.der, keyDetails: 7 } as never });
  const verifier = new Verifier(material, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
  verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(bundle))));
}

/** Returns the bundle with a change. */
// biome-ignore lint/suspicious/noExplicitAny: changes any part
function changed(change: (bundle: any) => void): string {
  const bundle = JSON.parse(text);
  change(bundle);
  return JSON.stringify(bundle);
}

describe('signStatement()', () => {
  it('returns a bundle that @sigstore/verify accepts', () => verifyWithSigstore(text));

  it('returns a bundle that openOwnBundle() opens', () => {
    assert.deepEqual(openOwnBundle(text, keyOf), { statement });
  });

  const damaged: Readonly<Record<string, string>> = {
    'another payload': changed(({ dsseEnvelope }) => {
      dsseEnvelope.payload = Buffer.from(JSON.stringify({ ...statement, note: 'a' })).toString('base64');
    }),
    'another payload type': changed(({ dsseEnvelope }) => {
      dsseEnvelope.payloadType = 'text/plain';
    }),
    'another signature': changed(({ dsseEnvelope }) => {
      dsseEnvelope.signatures[0].sig = Buffer.alloc(64).toString('base64');
    }),
    'a signature by another key': signStatement({ ...makeKey(), id: key.id }, statement),
    'an unknown key': signStatement(makeKey(), statement),
    'no signature': changed(({ dsseEnvelope }) => {
      dsseEnvelope.signatures = [];
    }),
    'a cut end': text.slice(0, -1),
    'no object': 'null',
    'two signatures': changed(({ dsseEnvelope }) => dsseEnvelope.signatures.push(dsseEnvelope.signatures[0])),
  };
  for (const [what, bundle] of Object.entries(damaged)) {
    it(`is refused with ${what}, here and by @sigstore/verify`, () => {
      assert.ok('fault' in openOwnBundle(bundle, keyOf));
      assert.throws(() => verifyWithSigstore(bundle));
    });
  }
});
